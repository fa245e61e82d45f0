/** The settings on one page; the address says which part one came for. */
import "./settings.css";
import { ArrowLeft } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { useLocation } from "wouter";
import { useManages } from "@/api/queries";
import { useT } from "@/i18n";
import { cx, IconButton } from "@/ui";
import { About } from "./about";
import { Account } from "./account";
import { ApiKeys } from "./api-keys";
import { LanguageSettings } from "./language";
import { Look } from "./look";
import { Models } from "./models";
import { SECTIONS, type SectionId } from "./sections";

const PARTS: Record<SectionId, () => ReactNode> = {
  look: Look,
  language: LanguageSettings,
  models: Models,
  account: Account,
  keys: ApiKeys,
  about: About,
};

const SETTLES_WITHIN_MS = 1500;

/** Goes to the part one came for, and stays with it while the parts above still fill. */
function useArrival(section: string | null) {
  useEffect(() => {
    const part = section ? document.getElementById(`set-${section}`) : null;
    const all = part?.parentElement;
    if (!part || !all) return;
    const stay = new ResizeObserver(() => part.scrollIntoView({ block: "start" }));
    const leave = () => stay.disconnect();
    const timer = setTimeout(leave, SETTLES_WITHIN_MS);
    const signs = ["wheel", "pointerdown", "keydown"] as const;
    for (const sign of signs) window.addEventListener(sign, leave);
    stay.observe(all);
    return () => {
      clearTimeout(timer);
      for (const sign of signs) window.removeEventListener(sign, leave);
      leave();
    };
  }, [section]);
}

export default function SettingsPage({ section }: { section: string | null }) {
  const t = useT();
  const manages = useManages();
  const [, go] = useLocation();
  const current = SECTIONS.find((one) => one.id === section);

  useArrival(section);

  return (
    <main className="main" id="content" tabIndex={-1}>
      <header className="bar-h narrow-only">
        <IconButton label={t("ui.back")} onClick={() => go("/settings")}>
          <ArrowLeft className="i" size={20} aria-hidden />
        </IconButton>
        <h1 className="t16 grow">{t(current?.name ?? "shell.settings")}</h1>
      </header>
      <div className="scroll">
        <div className="st-p">
          {SECTIONS.filter((one) => manages || !one.managers).map((one) => {
            const Part = PARTS[one.id];
            return (
              <section
                key={one.id}
                id={`set-${one.id}`}
                aria-label={t(one.name)}
                className={cx(one.id !== section && "other")}
              >
                <Part />
              </section>
            );
          })}
        </div>
      </div>
    </main>
  );
}
