/** Files that belong to a message: pictures are shown, the others are there to be fetched. */
import { FileText } from "lucide-react";
import type { BlobPart, StoredFile } from "@/api/types";
import { useT } from "@/i18n";
import { plainName } from "./blocks";
import { fileSize } from "./size";

// What the server hands out to be shown; an SVG is a document with scripts and only fetched.
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

const idOf = (file: BlobPart | StoredFile) => ("file" in file ? file.file : file.id);

export function Files({ files }: { files: readonly (BlobPart | StoredFile)[] }) {
  const t = useT();
  return (
    <ul className="files" aria-label={t("chat.files")}>
      {files.map((file) => {
        const address = `/api/files/${encodeURIComponent(idOf(file))}`;
        const name = plainName(file.name);
        return (
          <li key={idOf(file)}>
            {PICTURES.has(file.media_type) ? (
              <a className="shot" href={address} target="_blank" rel="noopener">
                <img src={address} alt={name} loading="lazy" />
              </a>
            ) : (
              <a className="att" href={address} download={name}>
                <span className="ic">
                  <FileText className="i" size={18} aria-hidden />
                </span>
                <span className="col att-t">
                  <span className="ell med">{name}</span>
                  <span className="k3">{fileSize(file.size)}</span>
                </span>
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}
