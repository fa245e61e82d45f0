/** A person's words as they were typed, with their addresses as links. */
import { Fragment } from "react";
import { cx } from "@/ui";
import { SafeLink } from "@/ui/markdown";

const ADDRESS =
  /(https?:\/\/[^\s<>"'，。；：！？、（）【】《》「」『』“”‘’]+[^\s<>"'，。；：！？、（）【】《》「」『』“”‘’.,;:!?)\]])/;

export function PlainText({ text, folded }: { text: string; folded: boolean }) {
  return (
    <p className={cx("plain", folded && "folded")}>
      {text.split(ADDRESS).map((piece, place) => (
        <Fragment key={place}>
          {place % 2 === 1 ? <SafeLink to={piece}>{piece}</SafeLink> : piece}
        </Fragment>
      ))}
    </p>
  );
}
