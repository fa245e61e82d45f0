/** People are circles in a soft tint, agents are seals: one never wonders who is a machine. */
import { cx } from "./cx";
import { hueOf, lettersOf } from "./hue";

type Size = 16 | 20 | 24 | 28 | 32 | 36 | 40 | 56 | 72;
export type Presence = "present" | "busy" | "wait" | "off";

interface Props {
  kind: "agent" | "person";
  name: string;
  /** The stored colour; without one it follows from the name. */
  hue?: number | undefined;
  size?: Size;
  presence?: Presence | undefined;
  /** Said aloud; without it the avatar is decoration beside the name. */
  label?: string;
}

export function Avatar({ kind, name, hue, size = 36, presence, label }: Props) {
  const letters = lettersOf(name, kind);
  return (
    <span
      className={cx(
        "av",
        kind === "agent" ? "av-a" : "av-p",
        `av${size}`,
        `h${hue ?? hueOf(name)}`,
        letters.length > 1 && "two",
      )}
      {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": true })}
    >
      {letters}
      {presence && size > 20 && <i className={cx("pres", presence !== "present" && presence)} />}
    </span>
  );
}
