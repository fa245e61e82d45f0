/** A plain text area over its own picture: line numbers and headings, without an editor library. */
import { cx } from "@/ui";

interface Props {
  id: string;
  value: string;
  onChange: (value: string) => void;
}

export function SoulEditor({ id, value, onChange }: Props) {
  return (
    <div className="soul">
      <div className="soul-lines" aria-hidden>
        {value.split("\n").map((line, index) => (
          <div key={index}>
            <i>{index + 1}</i>
            <span className={cx(/^#{1,6} /.test(line) && "soul-title")}>{line || "\u200b"}</span>
          </div>
        ))}
      </div>
      <textarea
        id={id}
        className="soul-t"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
