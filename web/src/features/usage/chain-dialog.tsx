/** The order in which models stand in for one: added, moved, taken out. */
import { ArrowDown, ArrowUp, X } from "lucide-react";
import { useState } from "react";
import { useAgents, useChangeSettings, useSettings } from "@/api/queries";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Banner, Button, Dialog, Field, IconButton } from "@/ui";
import { ModelChoice } from "./model-choice";

export function ChainDialog({ name, onClose }: { name: string | null; onClose: () => void }) {
  const t = useT();
  const fallbacks = useSettings().data?.fallbacks ?? {};
  const agents = useAgents();
  const change = useChangeSettings();
  const [whose, setWhose] = useState(name ?? "");
  const [order, setOrder] = useState<readonly string[]>(name ? (fallbacks[name] ?? []) : []);
  const title = agents.data?.find((one) => one.id === name)?.name ?? name;
  const keep = (models: readonly string[] | null) =>
    change.mutate({ fallbacks: { [whose]: models } }, { onSuccess: onClose });
  function move(at: number, by: number) {
    const next = [...order];
    next.splice(at + by, 0, ...next.splice(at, 1));
    setOrder(next);
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={title ? t("usage.fallback.change", { name: title }) : t("usage.fallback.new")}
      description={t("usage.fallbacks.about")}
      actions={
        <>
          {name && (
            <Button kind="danger" disabled={change.isPending} onClick={() => keep(null)}>
              {t("usage.remove")}
            </Button>
          )}
          <span className="grow" />
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind="primary"
            busy={change.isPending}
            disabled={!whose || order.length === 0}
            onClick={() => keep(order)}
          >
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <div className="form">
        {!name && (
          <Field label={t("usage.fallback.for")} hint={t("usage.fallback.for.hint")}>
            {(wiring) => (
              <ModelChoice
                wiring={wiring}
                prompt={t("usage.choose")}
                value={whose}
                without={Object.keys(fallbacks)}
                aliases
                onChoose={(chosen) => {
                  setWhose(chosen);
                  setOrder(order.filter((model) => model !== chosen));
                }}
              >
                <optgroup label={t("shell.contacts")}>
                  {agents.data
                    ?.filter((agent) => !(agent.id in fallbacks))
                    .map((agent) => (
                      <option key={agent.id} value={agent.id}>
                        {agent.name}
                      </option>
                    ))}
                </optgroup>
              </ModelChoice>
            )}
          </Field>
        )}
        <ol className="order">
          {order.map((model, at) => (
            <li key={model}>
              <span className="mono t13 grow wrap-any">{model}</span>
              <IconButton
                small
                label={t("usage.move.up", { name: model })}
                disabled={at === 0}
                onClick={() => move(at, -1)}
              >
                <ArrowUp className="i" size={14} aria-hidden />
              </IconButton>
              <IconButton
                small
                label={t("usage.move.down", { name: model })}
                disabled={at === order.length - 1}
                onClick={() => move(at, 1)}
              >
                <ArrowDown className="i" size={14} aria-hidden />
              </IconButton>
              <IconButton
                small
                label={t("usage.take_out", { name: model })}
                onClick={() => setOrder(order.filter((one) => one !== model))}
              >
                <X className="i" size={14} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ol>
        <Field label={t("usage.fallback.next")}>
          {(wiring) => (
            <ModelChoice
              wiring={wiring}
              prompt={t("usage.choose")}
              without={[whose, ...order]}
              aliases
              onChoose={(model) => setOrder([...order, model])}
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
