/** Buttons: one primary per view; a busy one keeps its width, shows a spinner and says its verb. */
import { LoaderCircle } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { Link } from "wouter";
import { cx } from "./cx";
import { Tooltip } from "./tooltip";

type Kind = "primary" | "secondary" | "ghost" | "danger" | "danger-filled";
type Size = "sm" | "md" | "lg";

const KINDS: Record<Kind, string> = {
  primary: "btn-p",
  secondary: "",
  ghost: "btn-g",
  danger: "btn-d",
  "danger-filled": "btn-dp",
};

interface Look {
  kind?: Kind;
  size?: Size;
}

const look = ({ kind = "secondary", size = "md" }: Look) =>
  cx("btn", KINDS[kind], size !== "md" && `btn-${size}`);

interface ButtonProps extends ComponentProps<"button">, Look {
  busy?: boolean;
  icon?: ReactNode;
}

export function Button({ kind, size, busy, icon, children, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={cx(look({ ...(kind && { kind }), ...(size && { size }) }), className)}
      disabled={rest.disabled || busy}
      aria-busy={busy || undefined}
    >
      {busy ? <LoaderCircle className="i spin" size={16} aria-hidden /> : icon}
      {children}
    </button>
  );
}

interface ButtonLinkProps extends Look {
  to: string;
  icon?: ReactNode;
  children: ReactNode;
  className?: string;
}

export function ButtonLink({ to, kind, size, icon, children, className }: ButtonLinkProps) {
  return (
    <Link
      href={to}
      className={cx(look({ ...(kind && { kind }), ...(size && { size }) }), className)}
    >
      {icon}
      {children}
    </Link>
  );
}

interface IconButtonProps extends ComponentProps<"button"> {
  /** What it does: the accessible name, and the tooltip. */
  label: string;
  on?: boolean;
  small?: boolean;
  tip?: boolean;
}

export function IconButton({ label, on, small, tip = true, className, ...rest }: IconButtonProps) {
  const button = (
    <button
      type="button"
      aria-label={label}
      {...rest}
      className={cx("ib", small && "ib-sm", on && "on", className)}
    />
  );
  return tip ? <Tooltip text={label}>{button}</Tooltip> : button;
}
