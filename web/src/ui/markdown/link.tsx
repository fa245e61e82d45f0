/** Where a text may lead: to pages and mailboxes, in a tab that knows nothing of ours. */
import { Image as ImageIcon } from "lucide-react";
import type { ReactNode } from "react";
import { text } from "@/i18n";
import { decode } from "./entities";

const SAFE = /^(?:https?:\/\/|mailto:)/i;

/** The address if it is one of those allowed, else null: no script, data, file or app scheme. */
export function safeAddress(address: string): string | null {
  const trimmed = decode(address).trim();
  return SAFE.test(trimmed) && URL.canParse(trimmed) ? trimmed : null;
}

export function SafeLink({ to, children }: { to: string; children: ReactNode }) {
  const address = safeAddress(to);
  if (address === null) return <>{children}</>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** Pictures from elsewhere would tell their host that, when and where one reads; so only a link. */
export function PictureLink({ to, alt }: { to: string; alt: string }) {
  const address = safeAddress(to);
  const words = alt || address || text("chat.picture");
  if (address === null) return <>{words}</>;
  return (
    <a className="pic" href={address} target="_blank" rel="noopener noreferrer nofollow">
      <ImageIcon className="i" size={14} aria-hidden />
      {words}
    </a>
  );
}
