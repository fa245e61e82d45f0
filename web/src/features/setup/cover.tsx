/** The left half of the guide and of the login: the house's name, a bowl of tea, a greeting. */
import { useEffect } from "react";
import { useT } from "@/i18n";
import { Logo } from "@/ui";

interface Props {
  version: string;
  title: string;
  about?: string;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function Cover({ version, title, about }: Props) {
  const t = useT();
  const host = location.hostname;
  const name = t("ui.app");
  useEffect(() => {
    document.title = name;
  }, [name]);
  return (
    <aside className="fr-l">
      <div className="brand">
        <Logo />
        <span className="wordmark">{name}</span>
        {name !== "Teahouse" && (
          <span className="t13 k2 brand-en" lang="en">
            Teahouse
          </span>
        )}
      </div>
      <div className="fr-art">
        <Bowl />
      </div>
      <h1>
        {title.split("\n").map((line) => (
          <span key={line}>{line}</span>
        ))}
      </h1>
      {about && <p>{about}</p>}
      <p className="foot t12 k3">
        {t("setup.version", { version })} ·{" "}
        {LOOPBACK.test(host) ? t("setup.local_only", { host }) : host}
      </p>
    </aside>
  );
}

function Bowl() {
  return (
    <svg
      viewBox="0 0 320 260"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path
        className="steam"
        d="M140 44c-8-8 6-13-2-23M161 46c-9-10 8-17-2-30M182 44c-8-8 6-13-2-23"
        opacity=".45"
      />
      <path d="M147 72c1-7 3-10 13-10s12 3 13 10" />
      <path d="M147 72h26" />
      <path d="M98 108c6-24 28-36 62-36s56 12 62 36" />
      <path d="M112 100c8-12 20-18 36-20" opacity=".4" />
      <path d="M70 108h180" />
      <path d="M68 108c11 5 13 17 17 31 8 31 25 53 49 57h52c24-4 41-26 49-57 4-14 6-26 17-31" />
      <path d="M101 146c5 18 13 30 24 38" opacity=".4" />
      <path d="M132 196c0 6-2 9-5 12M188 196c0 6 2 9 5 12" />
      <path d="M64 212c10 12 40 18 96 18s86-6 96-18Z" />
      <path d="M20 248h280" opacity=".3" />
      <path
        d="M206 148c4-10 14-14 24-13 0 9-7 17-17 18-3 0-6-2-7-5ZM206 148l-9 13M214 146l7-5"
        stroke="var(--tea)"
        strokeWidth="1.75"
      />
    </svg>
  );
}
