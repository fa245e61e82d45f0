/** The small buttons in the row under a message. */
import type { LucideIcon } from "lucide-react";
import { text as words } from "@/i18n";
import { IconButton, toast } from "@/ui";
import { copyText } from "@/ui/markdown";

interface Props {
  label: string;
  /** For the keys of the log: it presses the button of this name. */
  name: "copy" | "quote";
  Icon: LucideIcon;
  onClick: () => void;
}

export function Action({ label, name, Icon, onClick }: Props) {
  return (
    <IconButton small label={label} data-action={name} onClick={onClick}>
      <Icon className="i" size={14} aria-hidden />
    </IconButton>
  );
}

export function copyAction(text: string): void {
  void copyText(text).then((done) => toast(words(done ? "ui.copied" : "chat.copy_failed")));
}
