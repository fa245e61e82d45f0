/** The files of the message being written. */
import { CircleAlert, FileText, X } from "lucide-react";
import { useT } from "@/i18n";
import { number } from "@/i18n/format";
import { cx, IconButton } from "@/ui";
import { plainName } from "./blocks";
import { fileSize } from "./size";
import type { Upload } from "./uploads";

interface Props {
  uploads: readonly Upload[];
  onRemove: (key: number) => void;
}

export function Attachments({ uploads, onRemove }: Props) {
  const t = useT();
  if (uploads.length === 0) return null;
  return (
    <ul className="atts" aria-label={t("chat.files")}>
      {uploads.map((one) => {
        const name = plainName(one.name);
        const loading = !one.stored && !one.refused;
        const Icon = one.refused ? CircleAlert : FileText;
        return (
          <li key={one.key} className={cx("att", one.refused && "bad")} title={one.refused ?? name}>
            <span className="ic">
              <Icon className="i" size={18} aria-hidden />
            </span>
            <span className="att-t">
              <span className="ell med">{name}</span>
              {one.refused ? (
                <span className="kr ell" role="alert">
                  {one.refused}
                </span>
              ) : (
                <span className="k3">
                  {fileSize(one.size)}
                  {loading && `, ${number(Math.round(one.progress * 100))}%`}
                </span>
              )}
            </span>
            <IconButton
              small
              label={t("chat.file.remove", { name })}
              onClick={() => onRemove(one.key)}
            >
              <X className="i" size={14} aria-hidden />
            </IconButton>
            {loading && (
              <span className="bar">
                <i style={{ width: `${one.progress * 100}%` }} />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
