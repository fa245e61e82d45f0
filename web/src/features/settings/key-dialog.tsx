/** Making a key: what it may do and how much of it; shown once; and its limits changed later. */
import { Check, Copy } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useChangeApiKey, useCreateApiKey } from "@/api/queries";
import type { ApiKey, NewApiKey } from "@/api/types";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Banner, Button, Dialog, Field, Input, toast } from "@/ui";
import { Scopes } from "./key-scopes";

/** As typed; empty is no limit. */
interface Limits {
  name: string;
  budget: string;
  rate: string;
  concurrent: string;
}

const NO_LIMITS: Limits = { name: "", budget: "", rate: "", concurrent: "" };
const shown = (limit: number | null) => (limit === null ? "" : String(limit));
const limit = (text: string) => (text.trim() ? Number(text.replace(",", ".")) : null);

const valuesOf = ({ name, budget, rate, concurrent }: Limits) => ({
  name: name.trim(),
  budget: limit(budget),
  rate: limit(rate),
  concurrent: limit(concurrent),
});

function isComplete(limits: Limits): boolean {
  const { name, budget, rate, concurrent } = valuesOf(limits);
  const counts = [rate, concurrent].every(
    (one) => one === null || (Number.isInteger(one) && one > 0),
  );
  return name !== "" && counts && (budget === null || budget >= 0);
}

interface FieldsProps {
  limits: Limits;
  onChange: (limits: Limits) => void;
  error: unknown;
}

function LimitFields({ limits, onChange, error }: FieldsProps) {
  const t = useT();
  const words = error ? explain(error) : null;
  const fields = [
    { name: "budget", label: t("settings.keys.budget"), mode: "decimal" },
    { name: "rate", label: t("settings.keys.rate.label"), mode: "numeric" },
    { name: "concurrent", label: t("settings.keys.concurrent.label"), mode: "numeric" },
  ] as const;
  return (
    <>
      <Field label={t("settings.keys.name")} hint={t("settings.keys.name.hint")}>
        {(wiring) => (
          <Input
            {...wiring}
            autoFocus
            maxLength={64}
            value={limits.name}
            onChange={(event) => onChange({ ...limits, name: event.target.value })}
          />
        )}
      </Field>
      <div className="thirds">
        {fields.map(({ name, label, mode }) => (
          <Field key={name} label={label}>
            {(wiring) => (
              <Input
                {...wiring}
                inputMode={mode}
                placeholder={t("settings.keys.no_limit")}
                value={limits[name]}
                onChange={(event) => onChange({ ...limits, [name]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      {words && (
        <Banner tone="error" box>
          {words.message} {words.hint}
        </Banner>
      )}
    </>
  );
}

export function NewKey({ onClose }: { onClose: () => void }) {
  const t = useT();
  const create = useCreateApiKey();
  const form = useId();
  const [limits, setLimits] = useState(NO_LIMITS);
  /** Null: all that its person may. */
  const [scopes, setScopes] = useState<readonly string[] | null>(null);
  const complete = isComplete(limits) && scopes?.length !== 0;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (complete) create.mutate({ ...valuesOf(limits), scopes: [...(scopes ?? [])] });
  }
  if (create.data) return <Made made={create.data} onClose={onClose} />;
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t("settings.keys.new")}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind="primary"
            type="submit"
            form={form}
            busy={create.isPending}
            disabled={!complete}
          >
            {t("agents.create")}
          </Button>
        </>
      }
    >
      <form id={form} className="form" onSubmit={submit}>
        <LimitFields limits={limits} onChange={setLimits} error={create.error} />
        <Scopes chosen={scopes} onChange={setScopes} />
      </form>
    </Dialog>
  );
}

export function KeyLimits({ of: key, onClose }: { of: ApiKey; onClose: () => void }) {
  const t = useT();
  const change = useChangeApiKey(key.id);
  const form = useId();
  const [limits, setLimits] = useState<Limits>({
    name: key.name,
    budget: shown(key.budget),
    rate: shown(key.rate),
    concurrent: shown(key.concurrent),
  });
  const complete = isComplete(limits);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (complete) change.mutate(valuesOf(limits), { onSuccess: onClose });
  }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t("settings.keys.change.title", { name: key.name })}
      description={t("settings.keys.change.about")}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind="primary"
            type="submit"
            form={form}
            busy={change.isPending}
            disabled={!complete}
          >
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <form id={form} className="form" onSubmit={submit}>
        <LimitFields limits={limits} onChange={setLimits} error={change.error} />
      </form>
    </Dialog>
  );
}

/** The only time that the key is seen. */
function Made({ made, onClose }: { made: NewApiKey; onClose: () => void }) {
  const t = useT();
  const [copied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(made.key);
      setCopied(true);
    } catch {
      toast(t("ui.copy_failed"));
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={made.name}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t("settings.keys.done")}
        </Button>
      }
    >
      <Banner tone="warning" box>
        {t("settings.keys.once")}
      </Banner>
      <div className="row">
        <code className="cmd grow">{made.key}</code>
        <Button
          onClick={() => void copy()}
          icon={
            copied ? (
              <Check className="i" size={16} aria-hidden />
            ) : (
              <Copy className="i" size={16} aria-hidden />
            )
          }
        >
          {copied ? t("ui.copied") : t("ui.copy")}
        </Button>
      </div>
    </Dialog>
  );
}
