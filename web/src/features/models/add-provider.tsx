/** Connecting a provider: entered, tried, then kept. */
import { useState } from "react";
import { useChangeSettings, useSettings } from "@/api/queries";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Banner, Button, Dialog, Switch, toast } from "@/ui";
import { type Draft, draftOf, faultsOf, modelId, settingsOf } from "./draft";
import { ProviderFields } from "./provider-fields";
import { VENDORS } from "./vendors";

export function AddProvider({ first, onClose }: { first: boolean; onClose: () => void }) {
  const t = useT();
  const change = useChangeSettings();
  const [draft, setDraft] = useState<Draft>(() => draftOf(VENDORS[0]));
  const [answered, setAnswered] = useState(false);
  const fixed = useSettings().data?.locked?.includes("default_model") ?? false;
  const [chosen, setChosen] = useState<boolean | null>(null);
  // Not decided when the dialog opens: the settings may still be on their way.
  const usual = !fixed && (chosen ?? first);
  const complete = Object.keys(faultsOf(draft, false)).length === 0;

  function keep() {
    change.mutate(settingsOf(draft, usual), {
      onSuccess: () => {
        onClose();
        toast(t("settings.provider.added", { model: modelId(draft) }));
      },
    });
  }

  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={t("settings.models.add")}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind={answered ? "primary" : "secondary"}
            disabled={!complete}
            busy={change.isPending}
            onClick={keep}
          >
            {answered ? t("ui.save") : t("settings.provider.untested")}
          </Button>
        </>
      }
    >
      <ProviderFields draft={draft} onChange={setDraft} onTested={setAnswered} />
      <div className="row">
        <span className="label grow">{t("settings.provider.usual")}</span>
        <Switch
          label={t("settings.provider.usual")}
          checked={usual}
          onChange={setChosen}
          disabled={fixed}
        />
      </div>
      {change.error && (
        <Banner tone="error" box>
          {explain(change.error).message} {explain(change.error).hint}
        </Banner>
      )}
    </Dialog>
  );
}
