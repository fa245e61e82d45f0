/** Name, one line about it, who may use it; beside it the SOUL.md. */
import { useT } from "@/i18n";
import { number } from "@/i18n/format";
import { Field, Input, Switch } from "@/ui";
import type { AgentDraftState } from "./drafts";
import { SaveBar, type SaveBarState } from "./save-bar";
import { SoulEditor } from "./soul-editor";
import { estimateTokens } from "./tokens";

interface Props {
  draft: AgentDraftState;
  bar: SaveBarState;
}

export function IdentityTab({ draft, bar }: Props) {
  const t = useT();
  const { value, set } = draft;
  return (
    <div className="duo">
      <div className="col col-4">
        <Field
          label={t("agents.name")}
          error={value.name.trim() ? undefined : t("agents.name.empty")}
        >
          {(wiring) => (
            <Input
              {...wiring}
              maxLength={64}
              value={value.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={t("agents.description")} hint={t("agents.description.hint")}>
          {(wiring) => (
            <Input
              {...wiring}
              maxLength={280}
              value={value.description}
              onChange={(event) => set({ description: event.target.value })}
            />
          )}
        </Field>
        <div className="card">
          <div className="set">
            <div>
              <b>{t("agents.shared.switch")}</b>
              <small>{t("agents.shared.hint")}</small>
            </div>
            <Switch
              label={t("agents.shared.switch")}
              checked={value.shared}
              onChange={(shared) => set({ shared })}
            />
          </div>
        </div>
      </div>
      <div className="col">
        <div className="row soul-h">
          <label className="label mono" htmlFor="soul">
            SOUL.md
          </label>
          <span className="hint">{t("agents.soul.hint")}</span>
        </div>
        <div className="card">
          <SoulEditor id="soul" value={value.soul} onChange={(soul) => set({ soul })} />
          <SaveBar bar={bar}>
            {t("agents.soul.size", {
              characters: number([...value.soul].length),
              tokens: number(estimateTokens(value.soul)),
            })}
          </SaveBar>
        </div>
      </div>
    </div>
  );
}
