/** The message that another one speaks of, in one line. */
import type { BlobPart, Post } from "@/api/types";
import { useT } from "@/i18n";
import { oneLine, textOf } from "./blocks";
import { useNameOf } from "./names";

export function QuoteLine({ post }: { post: Post }) {
  const t = useT();
  const name = useNameOf(post.author);
  const file = post.parts.find((part): part is BlobPart => part.type === "blob");
  const words = oneLine(textOf(post.parts)).slice(0, 200);
  return (
    <div className="quote ell">{t("chat.quoted", { name, text: words || file?.name || "…" })}</div>
  );
}
