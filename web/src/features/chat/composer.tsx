/** Where one writes: Enter sends, Shift and Enter breaks the line, choosing characters does neither. */
import { ArrowUp, Paperclip, X } from "lucide-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { Post, StoredFile } from "@/api/types";
import { useT } from "@/i18n";
import { number } from "@/i18n/format";
import { Button, cx, IconButton } from "@/ui";
import { Attachments } from "./attachments";
import { QuoteLine } from "./quote-line";
import { MAX_FILES, useUploads } from "./uploads";
import { useDraft } from "./use-draft";

/** Characters of one message; the server says no to more. */
const MAX_TEXT = 200_000;
const MAX_HEIGHT_SHARE = 0.4;

interface Props {
  to: string;
  name: string;
  field: RefObject<HTMLTextAreaElement | null>;
  quoted: Post | null;
  onUnquote: () => void;
  running: boolean;
  onStop: () => void;
  onSend: (text: string, files: StoredFile[]) => void;
}

export function Composer({ to, name, field, quoted, onUnquote, running, onStop, onSend }: Props) {
  const t = useT();
  const [text, write] = useDraft(to);
  const { uploads, add, remove, clear } = useUploads();
  const [dropping, setDropping] = useState(false);
  // Told to send before the last file was there.
  const [armed, arm] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  useAutoHeight(field, text);

  const length = text.length > MAX_TEXT ? [...text].length : text.length;
  const tooLong = length > MAX_TEXT;
  const loading = uploads.some((one) => !one.stored && !one.refused);
  const refused = uploads.some((one) => one.refused);
  const tooMany = uploads.length > MAX_FILES;
  const something = text.trim() !== "" || uploads.length > 0;
  const ready = something && !tooLong && !loading && !refused && !tooMany;

  const submit = () => {
    if (loading && something && !tooLong) arm(true);
    if (!ready) return;
    const files = uploads.flatMap((one) => (one.stored ? [one.stored] : []));
    onSend(text.trim(), files);
    write("");
    clear();
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only the last file's arrival sends
  useEffect(() => {
    if (!armed || loading) return;
    arm(false);
    submit();
  }, [armed, loading]);

  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // While characters are being chosen, keys belong to the input method; 229 is Safari's word for it.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape" && quoted) {
      onUnquote();
    } else if (event.key === "Escape" && running && text === "") {
      event.preventDefault();
      onStop();
    }
  };

  const pasted = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0 || event.clipboardData.types.includes("text/plain"))
      return;
    event.preventDefault();
    add(event.clipboardData.files);
  };

  const dropped = (event: DragEvent) => {
    event.preventDefault();
    setDropping(false);
    add(event.dataTransfer.files);
  };

  const asFile = () => {
    add([new File([text], t("chat.text_file"), { type: "text/plain" })]);
    write("");
  };

  return (
    <footer className="comp">
      <div className="comp-in">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way to attach */}
        <div
          className={cx("comp-box", dropping && "dropping")}
          onDragOver={(event) => {
            if (!event.dataTransfer.types.includes("Files")) return;
            event.preventDefault();
            setDropping(true);
          }}
          onDragLeave={(event) => {
            if (!event.currentTarget.contains(event.relatedTarget as Node | null))
              setDropping(false);
          }}
          onDrop={dropped}
        >
          {quoted && (
            <div className="row comp-q">
              <div className="grow ell">
                <QuoteLine post={quoted} />
              </div>
              <IconButton small label={t("chat.unquote")} onClick={onUnquote}>
                <X className="i" size={14} aria-hidden />
              </IconButton>
            </div>
          )}
          <Attachments uploads={uploads} onRemove={remove} />
          <textarea
            ref={field}
            className="comp-t"
            rows={1}
            value={text}
            placeholder={t("chat.write_to", { name })}
            aria-label={t("chat.message_to", { name })}
            aria-invalid={tooLong || undefined}
            aria-describedby="comp-note"
            enterKeyHint="send"
            onChange={(event) => write(event.target.value)}
            onKeyDown={pressed}
            onPaste={pasted}
          />
          <div className="comp-b">
            <IconButton label={t("chat.attach")} onClick={() => picker.current?.click()}>
              <Paperclip className="i" size={18} aria-hidden />
            </IconButton>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              onChange={(event) => {
                add(event.target.files ?? []);
                event.target.value = "";
              }}
            />
            <span
              id="comp-note"
              className={cx("t12 comp-n", tooLong || tooMany ? "kr" : "k3")}
              role="status"
            >
              {tooLong
                ? t("chat.too_long", { length: number(length), limit: number(MAX_TEXT) })
                : tooMany
                  ? t("chat.too_many_files", { limit: MAX_FILES })
                  : loading
                    ? t(armed ? "chat.uploading" : "chat.file.loading")
                    : running && something
                      ? t("chat.queues")
                      : ""}
            </span>
            {tooLong && (
              <Button size="sm" onClick={asFile}>
                {t("chat.as_file")}
              </Button>
            )}
            <span className="end" />
            {running && (
              <button type="button" className="stop" onClick={onStop}>
                <i />
                {t("chat.stop")}
              </button>
            )}
            <button
              type="button"
              className="send"
              aria-label={running ? t("chat.send_queued") : t("chat.send")}
              disabled={!ready && !(loading && something && !tooLong)}
              onClick={() => {
                submit();
                field.current?.focus();
              }}
            >
              <ArrowUp className="i" size={18} aria-hidden />
            </button>
          </div>
        </div>
      </div>
    </footer>
  );
}

/** The field is as high as its text, up to a share of the window; then it scrolls. */
function useAutoHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const resized = () => setWidth(window.innerWidth);
    window.addEventListener("resize", resized);
    return () => window.removeEventListener("resize", resized);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: text and width decide the height
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    const most = window.innerHeight * MAX_HEIGHT_SHARE;
    element.style.height = "auto";
    const wanted = element.scrollHeight;
    element.style.height = `${Math.min(wanted, most)}px`;
    element.style.overflowY = wanted > most ? "auto" : "hidden";
  }, [field, text, width]);
}
