/** A labelled field: what it is, what is allowed, and, when it is wrong, what is wrong. */
import { ChevronDown, CircleAlert, Eye, EyeOff, Search } from "lucide-react";
import { type ComponentProps, type ReactNode, useId, useState } from "react";
import { cx } from "./cx";

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  children: (wiring: Wiring) => ReactNode;
  className?: string;
}

/** What a control needs to belong to its field. */
export interface Wiring {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

export function Field({ label, hint, error, children, className }: FieldProps) {
  const id = useId();
  const about = useId();
  return (
    <div className={cx("field", className)}>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": hint || error ? about : undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {error ? (
        <span className="msg-err" id={about} role="alert">
          <CircleAlert className="i" size={14} aria-hidden />
          <span>{error}</span>
        </span>
      ) : (
        hint && (
          <span className="hint" id={about}>
            {hint}
          </span>
        )
      )}
    </div>
  );
}

interface InputProps extends ComponentProps<"input"> {
  large?: boolean;
}

export function Input({ large, className, ...rest }: InputProps) {
  return (
    <input
      autoComplete="off"
      {...rest}
      className={cx("input", large && "input-lg", rest["aria-invalid"] && "err", className)}
    />
  );
}

interface PasswordProps extends Omit<InputProps, "type"> {
  show: string;
  hide: string;
}

export function Password({ show, hide, className, ...rest }: PasswordProps) {
  const [shown, setShown] = useState(false);
  const Icon = shown ? EyeOff : Eye;
  return (
    <span className="pass">
      <Input
        spellCheck={false}
        {...rest}
        type={shown ? "text" : "password"}
        className={cx("pass-in", className)}
      />
      <button
        type="button"
        className="ib"
        aria-label={shown ? hide : show}
        onClick={() => setShown(!shown)}
      >
        <Icon className="i" size={16} aria-hidden />
      </button>
    </span>
  );
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea {...rest} className={cx("area", rest["aria-invalid"] && "err", className)} />;
}

/** The platform's own list: it is right on phones, with the keyboard and with screen readers. */
export function Select({ className, children, ...rest }: ComponentProps<"select">) {
  return (
    <span className={cx("select-w", className)}>
      <select {...rest} className="input select-n">
        {children}
      </select>
      <ChevronDown className="i" size={16} aria-hidden />
    </span>
  );
}

interface SearchProps extends Omit<ComponentProps<"input">, "type"> {
  label: string;
}

export function SearchField({ label, className, ...rest }: SearchProps) {
  return (
    <div className={cx("search", className)}>
      <Search className="i" size={16} aria-hidden />
      <input
        type="search"
        className="input"
        placeholder={label}
        aria-label={label}
        autoComplete="off"
        {...rest}
      />
    </div>
  );
}
