/** One of a few, all in sight. Radio buttons underneath, so the arrow keys work. */
import { type ReactNode, useId } from "react";
import { cx } from "./cx";

interface Choice<T extends string> {
  value: T;
  label: ReactNode;
  lang?: string;
}

interface Props<T extends string> {
  label: string;
  value: T;
  choices: readonly Choice<T>[];
  onChange: (value: T) => void;
  disabled?: boolean;
}

export function Segmented<T extends string>({
  label,
  value,
  choices,
  onChange,
  disabled,
}: Props<T>) {
  const name = useId();
  return (
    <div className="seg" role="radiogroup" aria-label={label}>
      {choices.map((choice) => (
        <label key={choice.value} className={cx(choice.value === value && "on")} lang={choice.lang}>
          <input
            type="radio"
            className="sr"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            disabled={disabled}
            onChange={() => onChange(choice.value)}
          />
          {choice.label}
        </label>
      ))}
    </div>
  );
}
