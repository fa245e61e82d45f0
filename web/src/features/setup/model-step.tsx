/** Which model answers: the one on this machine, or a provider's. */
import { ArrowRight } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { useChangeSettings, useLocalModel, useModels, useSettings } from "@/api/queries";
import { type Draft, draftOf, settingsOf } from "@/features/models/draft";
import { isUsable, LocalPull, LocalState } from "@/features/models/local-model";
import { ProviderFields } from "@/features/models/provider-fields";
import { VENDORS } from "@/features/models/vendors";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Banner, Button, cx } from "@/ui";
import { Step } from "./step";

type Choice = "local" | "provider";

export function ModelStep({ open, onDone }: { open: boolean; onDone: () => void }) {
  const t = useT();
  return (
    <Step state={open ? "current" : "ahead"} number={3} title={t("setup.model")} below>
      {open ? <Choose onDone={onDone} /> : <p className="hint">{t("setup.model.ahead")}</p>}
    </Step>
  );
}

function Choose({ onDone }: { onDone: () => void }) {
  const t = useT();
  const local = useLocalModel();
  const models = useModels();
  const settings = useSettings();
  const change = useChangeSettings();
  const [choice, setChoice] = useState<Choice>("local");
  const [draft, setDraft] = useState<Draft>(() => draftOf(VENDORS[0]));
  const [answered, setAnswered] = useState(false);

  const localId = models.data?.find((model) => model.local)?.id;
  const elsewhere = models.data?.find((model) => !model.local && model.ready);
  const ready = choice === "local" ? isUsable(local.data) || Boolean(elsewhere) : answered;
  const coming = choice === "local" && local.data?.state === "pulling";

  function enter() {
    const fixed = settings.data?.locked?.includes("default_model") ?? false;
    if (choice === "provider") change.mutate(settingsOf(draft, !fixed), { onSuccess: onDone });
    else if (localId && isUsable(local.data) && !elsewhere && !fixed) {
      change.mutate({ default_model: localId }, { onSettled: onDone });
    } else onDone();
  }

  return (
    <div className="form">
      <div className="opts" role="radiogroup" aria-label={t("setup.model")}>
        <Option
          chosen={choice === "local"}
          onChoose={() => setChoice("local")}
          title={t("models.local")}
          aside={<LocalState />}
          about={t("models.local.about")}
        >
          {choice === "local" && <LocalPull />}
        </Option>
        <Option
          chosen={choice === "provider"}
          onChoose={() => setChoice("provider")}
          title={t("setup.provider")}
          aside={<span className="hint">{t("setup.provider.which")}</span>}
        >
          {choice === "provider" && (
            <ProviderFields draft={draft} onChange={setDraft} onTested={setAnswered} />
          )}
        </Option>
      </div>
      {elsewhere && <p className="hint">{t("setup.model.already", { model: elsewhere.id })}</p>}
      {change.error && (
        <Banner tone="error" box>
          {explain(change.error).message}
        </Banner>
      )}
      <div className="row row-3 wrap">
        <Button
          kind="primary"
          size="lg"
          disabled={!ready && !coming}
          busy={change.isPending}
          onClick={enter}
        >
          {t("setup.enter")}
          <ArrowRight className="i" size={16} aria-hidden />
        </Button>
        {!ready && !coming && (
          <Button kind="ghost" size="lg" onClick={onDone}>
            {t("setup.without_model")}
          </Button>
        )}
        <span className="hint end">
          {coming
            ? t("setup.model.coming")
            : choice === "provider" && !answered
              ? t("setup.test_first")
              : t("setup.later")}
        </span>
      </div>
    </div>
  );
}

interface OptionProps {
  chosen: boolean;
  onChoose: () => void;
  title: string;
  aside: ReactNode;
  about?: string;
  children?: ReactNode;
}

function Option({ chosen, onChoose, title, aside, about, children }: OptionProps) {
  const id = useId();
  return (
    <div className={cx("opt", chosen && "on")}>
      <input
        id={id}
        type="radio"
        className="radio-n"
        name="model-choice"
        checked={chosen}
        onChange={onChoose}
      />
      <label className="semi" htmlFor={id}>
        {title}
      </label>
      {aside}
      {about && <span className="hint opt-about">{about}</span>}
      {children && <div className="in">{children}</div>}
    </div>
  );
}
