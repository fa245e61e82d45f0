/** The list pane of the settings. */
import "./settings.css";
import { useState } from "react";
import { Link } from "wouter";
import { useManages } from "@/api/queries";
import { useT } from "@/i18n";
import { cx, SearchField } from "@/ui";
import { SECTIONS } from "./sections";

export default function SettingsNav({ open }: { open: string | null }) {
  const t = useT();
  const manages = useManages();
  const [wanted, setWanted] = useState("");
  const folded = wanted.trim().toLocaleLowerCase();
  const shown = SECTIONS.filter((one) => manages || !one.managers).filter((one) =>
    `${t(one.name)}\n${t(one.about)}`.toLocaleLowerCase().includes(folded),
  );
  return (
    <section className="pane list" aria-label={t("shell.settings")}>
      <header className="pane-h">
        <h1>{t("shell.settings")}</h1>
      </header>
      <SearchField
        className="set-search"
        label={t("settings.find")}
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      <nav className="sn scroll" aria-label={t("shell.settings")}>
        {shown.map((one) => (
          <Link
            key={one.id}
            href={`/settings/${one.id}`}
            className={cx(one.id === (open ?? "look") && "on", !open && "first")}
            {...(one.id === open ? { "aria-current": "page" as const } : {})}
          >
            <one.Icon className="i" size={18} aria-hidden />
            {t(one.name)}
          </Link>
        ))}
        {shown.length === 0 && (
          <p className="hint pad">{t("agents.none_found", { text: wanted.trim() })}</p>
        )}
      </nav>
    </section>
  );
}
