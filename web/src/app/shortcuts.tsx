/** The list of keys, on `?`; and the few that work everywhere. */
import { useEffect } from "react";
import { useLocation } from "wouter";
import { create } from "zustand";
import { type PageKey, useT } from "@/i18n";
import { Dialog } from "@/ui";

const AREAS = ["/chats", "/contacts", "/usage", "/settings"];

const useOpen = create<{ open: boolean }>(() => ({ open: false }));
export const openShortcuts = () => useOpen.setState({ open: true });

const LIST: { title: PageKey; keys: { keys: string[]; does: PageKey }[] }[] = [
  {
    title: "shell.keys.everywhere",
    keys: [
      { keys: ["Ctrl", "1"], does: "shell.chats" },
      { keys: ["Ctrl", "2"], does: "shell.contacts" },
      { keys: ["Ctrl", "3"], does: "shell.usage" },
      { keys: ["Ctrl", "4"], does: "shell.settings" },
      { keys: ["?"], does: "shell.keys.this" },
      { keys: ["Esc"], does: "shell.keys.close" },
    ],
  },
  {
    title: "shell.keys.writing",
    keys: [
      { keys: ["Enter"], does: "shell.keys.send" },
      { keys: ["Shift", "Enter"], does: "shell.keys.newline" },
      { keys: ["Esc"], does: "shell.keys.stop" },
    ],
  },
  {
    title: "chat.keys",
    keys: [
      { keys: ["Alt", "↑"], does: "chat.keys.before" },
      { keys: ["Alt", "↓"], does: "chat.keys.next" },
      { keys: ["J"], does: "chat.keys.down" },
      { keys: ["K"], does: "chat.keys.up" },
      { keys: ["C"], does: "chat.keys.copy" },
      { keys: ["Q"], does: "chat.keys.quote" },
    ],
  },
  {
    title: "shell.keys.editing",
    keys: [{ keys: ["Ctrl", "S"], does: "ui.save" }],
  },
];

const isMac = /Mac|iP(hone|ad)/.test(navigator.userAgent);

/** A single letter belongs to the text field that has the focus. */
export function inTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select"))
  );
}

export function Shortcuts() {
  const t = useT();
  const open = useOpen((state) => state.open);
  const [, go] = useLocation();
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.isComposing || event.defaultPrevented) return;
      const command = isMac ? event.metaKey : event.ctrlKey;
      const area =
        command && !event.shiftKey && !event.altKey ? AREAS[Number(event.key) - 1] : null;
      if (area) {
        event.preventDefault();
        go(area);
      } else if (event.key === "?" && !command && !inTextField(event.target)) {
        event.preventDefault();
        openShortcuts();
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [go]);
  return (
    <Dialog
      open={open}
      onClose={() => useOpen.setState({ open: false })}
      title={t("shell.shortcuts")}
    >
      {LIST.map((group) => (
        <section key={group.title} className="keys">
          <h3 className="t12 med k3">{t(group.title)}</h3>
          <dl>
            {group.keys.map((one) => (
              <div key={one.does} className="row">
                <dt className="grow">{t(one.does)}</dt>
                <dd className="row row-1">
                  {one.keys.map((key) => (
                    <kbd key={key}>{isMac && key === "Ctrl" ? "⌘" : key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
