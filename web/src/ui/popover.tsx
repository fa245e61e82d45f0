/** A small pane beside the thing it speaks of. */
import { Popover as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cx } from "./cx";

interface Props {
  trigger: ReactNode;
  children: ReactNode;
  label: string;
  align?: "start" | "center" | "end";
  side?: "top" | "right" | "bottom" | "left";
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  className?: string;
}

export function Popover({
  trigger,
  children,
  label,
  align = "start",
  side = "bottom",
  open,
  onOpenChange,
  className,
}: Props) {
  return (
    <Radix.Root
      {...(open === undefined ? {} : { open })}
      {...(onOpenChange ? { onOpenChange } : {})}
    >
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className={cx("pop", className)}
          aria-label={label}
          align={align}
          side={side}
          sideOffset={6}
          collisionPadding={8}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
