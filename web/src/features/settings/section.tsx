/** A part of the settings, and one line in it: what it is, and the control. */
import type { ReactNode } from "react";

interface HeadProps {
  title: string;
  about?: ReactNode;
  action?: ReactNode;
}

export function Head({ title, about, action }: HeadProps) {
  return (
    <div className="sec-h">
      <h2>{title}</h2>
      {about && <p>{about}</p>}
      {action && <span className="end">{action}</span>}
    </div>
  );
}

interface LineProps {
  title: ReactNode;
  about?: ReactNode;
  children?: ReactNode;
  top?: boolean;
}

export function Line({ title, about, children, top }: LineProps) {
  return (
    <div className={top ? "set top" : "set"}>
      <div>
        <b>{title}</b>
        {about && <small>{about}</small>}
      </div>
      {children}
    </div>
  );
}
