/** A name for several models, each with its weight. */
import { X } from "lucide-react";
import { useState } from "react";
import { useChangeSettings, useSettings } from "@/api/queries";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Banner, Button, Dialog, Field, IconButton, Input } from "@/ui";
import { ModelChoice } from "./model-choice";

const USUAL = "1";
/** What the server takes for the name of an alias. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function AliasDialog({ name, onClose }: { name: string | null; onClose: () => void }) {
  const t = useT();
  const aliases = useSettings().data?.aliases ?? {};
  const change = useChangeSettings();
  const before = name ? (aliases[name] ?? {}) : {};
  const [called, setCalled] = useState(name ?? "");
  const [weights, setWeights] = useState<Record<string, string>>(() =>
    Object.fromEntries(Object.entries(before).map(([model, weight]) => [model, String(weight)])),
  );
  const chosen = Object.entries(weights);
  const taken = !name && called in aliases;
  const named = NAME.test(called) && !taken;
  const weighed = chosen.every(([, text]) => text.trim() !== "" && Number(text) >= 0);
  const some = chosen.some(([, text]) => Number(text) > 0);
  const without = (model: string) => Object.fromEntries(chosen.filter(([one]) => one !== model));

  function keep() {
    const gone = Object.keys(before).filter((model) => !(model in weights));
    const models = {
      ...Object.fromEntries(gone.map((model) => [model, null])),
      ...Object.fromEntries(chosen.map(([model, text]) => [model, Number(text)])),
    };
    change.mutate({ aliases: { [called]: models } }, { onSuccess: onClose });
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={name ? t("usage.alias.change", { name }) : t("usage.alias.new")}
      description={t("usage.alias.about")}
      actions={
        <>
          {name && (
            <Button
              kind="danger"
              disabled={change.isPending}
              onClick={() => change.mutate({ aliases: { [name]: null } }, { onSuccess: onClose })}
            >
              {t("usage.remove")}
            </Button>
          )}
          <span className="grow" />
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind="primary"
            busy={change.isPending}
            disabled={!named && !name ? true : !weighed || !some}
            onClick={keep}
          >
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <div className="form">
        {!name && (
          <Field
            label={t("usage.alias.name")}
            hint={t("usage.alias.name.hint")}
            error={taken ? t("usage.alias.taken") : undefined}
          >
            {(wiring) => (
              <Input
                {...wiring}
                autoFocus
                className="mono"
                spellCheck={false}
                maxLength={64}
                value={called}
                onChange={(event) => setCalled(event.target.value)}
              />
            )}
          </Field>
        )}
        <ul className="order">
          {chosen.map(([model, text]) => (
            <li key={model}>
              <span className="mono t13 grow wrap-any">{model}</span>
              <Input
                className="weight"
                inputMode="decimal"
                aria-label={t("usage.alias.weight", { name: model })}
                value={text}
                onChange={(event) => setWeights({ ...weights, [model]: event.target.value })}
              />
              <IconButton
                small
                label={t("usage.take_out", { name: model })}
                onClick={() => setWeights(without(model))}
              >
                <X className="i" size={14} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
        <Field label={t("usage.alias.add")}>
          {(wiring) => (
            <ModelChoice
              wiring={wiring}
              prompt={t("usage.choose")}
              without={Object.keys(weights)}
              onChoose={(model) => setWeights({ ...weights, [model]: USUAL })}
            />
          )}
        </Field>
        {change.error && (
          <Banner tone="error" box>
            {explain(change.error).message} {explain(change.error).hint}
          </Banner>
        )}
      </div>
    </Dialog>
  );
}
