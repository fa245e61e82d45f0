/** Dialogs, drawers and sheets: focus is kept inside and given back, the page behind is dimmed. */
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from "react";
import { text } from "@/i18n";
import { IconButton } from "./button";
import { cx } from "./cx";

let open = 0;

type Before = RefObject<HTMLElement | null>;

/** What had the focus; of a menu, which is about to go, the button that opened it. */
function focused(): HTMLElement | null {
  const it = document.activeElement;
  const opener = it?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  const found = opener ? document.getElementById(opener) : it;
  return found instanceof HTMLElement ? found : null;
}

/** Takes the page behind out of reach, for the keyboard and for screen readers, while it stands. */
function InertPage({ before }: { before: Before }) {
  useLayoutEffect(() => {
    before.current = focused(); // from now on nothing there can have it
    const page = document.getElementById("root");
    if (!page) return;
    open += 1;
    page.inert = true;
    return () => {
      open -= 1;
      page.inert = open > 0;
    };
  }, [before]);
  return null;
}

function giveBack(before: Before) {
  return (event: Event) => {
    event.preventDefault();
    before.current?.focus();
  };
}

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  description?: ReactNode;
  children?: ReactNode;
  /** The buttons, the one that acts last. */
  actions?: ReactNode;
  wide?: boolean;
}

export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  actions,
  wide,
}: DialogProps) {
  const before = useRef<HTMLElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content
          className={cx("dlg", wide && "dlg-wide")}
          onOpenAutoFocus={focusItself}
          onCloseAutoFocus={giveBack(before)}
          {...(description ? {} : { "aria-describedby": undefined })}
        >
          <InertPage before={before} />
          <header className="dlg-h">
            <Radix.Title className="t16 semi grow">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton label={text("ui.close")} tip={false}>
                <X className="i" size={18} aria-hidden />
              </IconButton>
            </Radix.Close>
          </header>
          <div className="dlg-b">
            {description && <Radix.Description className="k2">{description}</Radix.Description>}
            {children}
          </div>
          {actions && <footer className="dlg-f">{actions}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** The pane takes the focus, not its close button; a field with `autoFocus` comes before both. */
function focusItself(event: Event) {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
}

interface SheetProps {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
}

/** A drawer over the right edge; on a phone a sheet from below. */
export function Sheet({ open, onClose, title, children }: SheetProps) {
  const before = useRef<HTMLElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content
          className="sheet"
          aria-describedby={undefined}
          onOpenAutoFocus={focusItself}
          onCloseAutoFocus={giveBack(before)}
        >
          <InertPage before={before} />
          <header className="pane-h">
            <Radix.Title className="t16 semi grow">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton label={text("ui.close")} tip={false}>
                <X className="i" size={18} aria-hidden />
              </IconButton>
            </Radix.Close>
          </header>
          <div className="scroll">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
