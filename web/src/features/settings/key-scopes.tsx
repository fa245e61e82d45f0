/** What a key may do: everything, or only what is ticked and named here. */
import { X } from "lucide-react";
import { useId } from "react";
import { useAgents, useModels } from "@/api/queries";
import { type PageKey, useT } from "@/i18n";
import { Field, IconButton, Segmented, Select } from "@/ui";

const WORDS: Record<string, PageKey> = {
  models: "settings.keys.scope.models",
  agents: "settings.keys.scope.agents",
  api: "settings.keys.scope.api",
  metrics: "settings.keys.scope.metrics",
};
const ALIASES = "aliases";

/** In the reader's words; "" is no scope at all, and that is everything. */
export function useScopeName(): (scope: string) => string {
  const t = useT();
  return (scope) => {
    const word = WORDS[scope];
    if (scope === "") return t("settings.keys.scope.everything");
    if (word) return t(word);
    if (scope.endsWith("/*")) return t("settings.keys.scope.all_of", { name: scope.slice(0, -2) });
    return scope;
  };
}

interface Props {
  chosen: readonly string[] | null;
  onChange: (chosen: readonly string[] | null) => void;
}

export function Scopes({ chosen, onChange }: Props) {
  const t = useT();
  const scopeName = useScopeName();
  const agents = useAgents();
  const models = useModels();
  const id = useId();
  const own = chosen ?? [];
  const named = own.filter((scope) => !(scope in WORDS));
  const toggle = (scope: string) =>
    onChange(own.includes(scope) ? own.filter((one) => one !== scope) : [...own, scope]);
  const known = models.data ?? [];
  const groups = [
    {
      label: t("settings.keys.group.agents"),
      scopes: (agents.data ?? []).map((agent) => `agent/${agent.name}`),
    },
    {
      label: t("usage.aliases"),
      scopes: known.filter((model) => model.provider === ALIASES).map((model) => model.id),
    },
    {
      label: t("settings.models"),
      scopes: known
        .filter((model) => model.provider !== ALIASES)
        .flatMap((model, at, all) =>
          all[at - 1]?.provider === model.provider ? [model.id] : [`${model.provider}/*`, model.id],
        ),
    },
  ];

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no grid in every browser
    <div className="form" role="group" aria-labelledby={id}>
      <div className="row wrap">
        <span className="label grow" id={id}>
          {t("settings.keys.scopes")}
        </span>
        <Segmented
          label={t("settings.keys.scopes")}
          value={chosen ? "some" : "all"}
          choices={[
            { value: "all", label: t("settings.keys.scope.everything") },
            { value: "some", label: t("settings.keys.scope.some") },
          ]}
          onChange={(value) => onChange(value === "some" ? [] : null)}
        />
      </div>
      {chosen && (
        <>
          <div className="ticks">
            {Object.keys(WORDS).map((scope) => (
              <label key={scope} className="row">
                <input
                  type="checkbox"
                  checked={own.includes(scope)}
                  onChange={() => toggle(scope)}
                />
                {scopeName(scope)}
              </label>
            ))}
          </div>
          {named.length > 0 && (
            <ul className="scopes">
              {named.map((scope) => (
                <li key={scope} className="chip">
                  <span className="ell">{scopeName(scope)}</span>
                  <IconButton
                    small
                    tip={false}
                    label={t("usage.take_out", { name: scopeName(scope) })}
                    onClick={() => toggle(scope)}
                  >
                    <X className="i" size={12} aria-hidden />
                  </IconButton>
                </li>
              ))}
            </ul>
          )}
          <Field label={t("settings.keys.scope.add")}>
            {(wiring) => (
              <Select {...wiring} value="" onChange={(event) => toggle(event.target.value)}>
                <option value="" disabled>
                  {t("usage.choose")}
                </option>
                {groups.map(({ label, scopes }) => {
                  const free = scopes.filter((scope) => !own.includes(scope));
                  return free.length > 0 ? (
                    <optgroup key={label} label={label}>
                      {free.map((scope) => (
                        <option key={scope} value={scope}>
                          {scopeName(scope)}
                        </option>
                      ))}
                    </optgroup>
                  ) : null;
                })}
              </Select>
            )}
          </Field>
          {own.length === 0 && <p className="hint">{t("settings.keys.scope.none")}</p>}
        </>
      )}
    </div>
  );
}
