/** The first-run guide: language, owner, model; then into the chats. */
import "./setup.css";
import { useState } from "react";
import { useLocation } from "wouter";
import type { Status } from "@/api/types";
import { LANGUAGE_NAMES, LANGUAGES, setLanguage, useLanguage, useT } from "@/i18n";
import { Segmented } from "@/ui";
import { Cover } from "./cover";
import { ModelStep } from "./model-step";
import { OwnerStep } from "./owner-step";
import { Step } from "./step";

interface Props {
  status: Status;
  onDone: () => void;
}

export default function SetupPage({ status, onDone }: Props) {
  const t = useT();
  const language = useLanguage();
  const [, go] = useLocation();
  const [owned, setOwned] = useState(status.set_up);

  return (
    <div className="fr">
      <Cover version={status.version} title={t("setup.title")} about={t("setup.about")} />
      <main className="fr-r" id="content">
        <div className="fr-f">
          <Step
            state="done"
            number={1}
            title={t("setup.language")}
            aside={language === "en-US" ? undefined : "Language"}
          >
            <Segmented
              label={t("setup.language")}
              value={language}
              onChange={(next) => void setLanguage(next)}
              choices={LANGUAGES.map((one) => ({
                value: one,
                label: LANGUAGE_NAMES[one],
                lang: one,
              }))}
            />
          </Step>
          <OwnerStep done={owned} onDone={() => setOwned(true)} />
          <ModelStep
            open={owned}
            onDone={() => {
              go("/chats", { replace: true });
              onDone();
            }}
          />
        </div>
      </main>
    </div>
  );
}
