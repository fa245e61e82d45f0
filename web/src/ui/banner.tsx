/** A line across the top of a pane: information, warning or error, with the one thing to do. */
import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "./cx";

type Tone = "info" | "warning" | "error";
const CLASSES: Record<Tone, string> = { info: "i_", warning: "t", error: "r" };
const ICONS = { info: Info, warning: TriangleAlert, error: CircleAlert };

interface Props {
  tone: Tone;
  children: ReactNode;
  icon?: ReactNode;
  action?: ReactNode;
  box?: boolean;
}

export function Banner({ tone, children, icon, action, box }: Props) {
  const Icon = ICONS[tone];
  return (
    <div
      className={cx("ban", CLASSES[tone], box && "box")}
      role={tone === "error" ? "alert" : "status"}
    >
      {icon ?? <Icon className="i" size={16} aria-hidden />}
      <div className="grow">{children}</div>
      {action}
    </div>
  );
}
