/** A menu under a button: arrows, letters and Escape work as in any application. */
import { Check } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cx } from "./cx";

interface MenuProps {
  /** The button that opens it. */
  trigger: ReactNode;
  children: ReactNode;
  align?: "start" | "center" | "end";
  side?: "top" | "right" | "bottom" | "left";
}

export function Menu({ trigger, children, align = "end", side = "bottom" }: MenuProps) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className="menu"
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

interface ItemProps {
  icon?: ReactNode;
  onSelect: () => void;
  children: ReactNode;
  hint?: ReactNode;
  danger?: boolean;
  checked?: boolean;
  disabled?: boolean;
  lang?: string;
}

export function MenuItem({
  icon,
  onSelect,
  children,
  hint,
  danger,
  checked,
  disabled,
  lang,
}: ItemProps) {
  return (
    <Radix.Item
      className={cx("mi", danger && "mi-d")}
      onSelect={onSelect}
      disabled={disabled ?? false}
      lang={lang}
    >
      {icon}
      <span className="grow">{children}</span>
      {hint && <span className="d">{hint}</span>}
      {checked && <Check className="i" size={16} aria-hidden />}
    </Radix.Item>
  );
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="mh">{children}</Radix.Label>
);

export const MenuSeparator = () => <Radix.Separator className="menu-sep" />;
