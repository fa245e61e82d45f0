/** Enter a provider and try it: whose it is, where it is, the key, a model, and the answer. */
import { Plug } from "lucide-react";
import { useState } from "react";
import { useTestModel } from "@/api/queries";
import { useT } from "@/i18n";
import { Button, Field, Input, Password, Select } from "@/ui";
import {
  type Draft,
  draftOf,
  type Faults,
  faultsOf,
  isOwn,
  modelId,
  modelOf,
  providerOf,
} from "./draft";
import { TestResult } from "./test-result";
import { useVendorName } from "./vendor-name";
import { DIALECTS, rowOf, VENDORS, vendorOf } from "./vendors";

interface Props {
  draft: Draft;
  onChange: (draft: Draft) => void;
  /** Told each time whether the draft as it stands has answered. */
  onTested: (ok: boolean) => void;
}

export function ProviderFields({ draft, onChange, onTested }: Props) {
  const t = useT();
  const test = useTestModel();
  const [faults, setFaults] = useState<Faults>({});
  const nameOf = useVendorName();
  const usual = rowOf(draft.vendor);
  const dialect = DIALECTS.find((one) => one.wire === draft.wire);

  function change(next: Draft) {
    test.reset();
    setFaults({});
    onTested(false);
    onChange(next);
  }
  function tryIt() {
    // Without a model's name the provider is asked for its first one.
    const { model, ...found } = faultsOf(draft, usual.key);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    test.mutate(
      { ...(model ? {} : { model: modelId(draft) }), provider: providerOf(draft) },
      {
        onSuccess: (result) => {
          if (result.ok && model) onChange({ ...draft, model: modelOf(result.model) });
          onTested(result.ok);
        },
      },
    );
  }
  const said = (key: Faults[keyof Faults]) => key && t(key);

  return (
    <div className="form">
      <div className="pair">
        <Field label={t("models.vendor")}>
          {(wiring) => (
            <Select
              {...wiring}
              value={draft.vendor}
              onChange={(event) => {
                const chosen = vendorOf(event.target.value);
                if (chosen) change(draftOf(chosen));
              }}
            >
              {VENDORS.map((one) => (
                <option key={one.id} value={one.id}>
                  {nameOf(one)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t("models.model")} hint={draft.model ? undefined : t("models.model.hint")}>
          {(wiring) => (
            <Input
              {...wiring}
              className="mono"
              spellCheck={false}
              value={draft.model}
              onChange={(event) => change({ ...draft, model: event.target.value })}
            />
          )}
        </Field>
      </div>
      {isOwn(draft) && (
        <div className="pair">
          <Field label={t("models.name")} hint={t("models.name.hint")} error={said(faults.name)}>
            {(wiring) => (
              <Input
                {...wiring}
                className="mono"
                spellCheck={false}
                value={draft.name}
                onChange={(event) => change({ ...draft, name: event.target.value.toLowerCase() })}
              />
            )}
          </Field>
          <Field label={t("models.wire")} hint={t("models.wire.hint")}>
            {(wiring) => (
              <Select
                {...wiring}
                value={draft.wire}
                onChange={(event) => {
                  const chosen = DIALECTS.find((one) => one.wire === event.target.value);
                  if (chosen) change({ ...draft, wire: chosen.wire });
                }}
              >
                {DIALECTS.map((one) => (
                  <option key={one.wire} value={one.wire}>
                    {one.name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
      )}
      <Field label={t("models.url")} error={said(faults.url)}>
        {(wiring) => (
          <Input
            {...wiring}
            className="mono"
            type="url"
            spellCheck={false}
            placeholder={usual.url || dialect?.url}
            value={draft.url}
            onChange={(event) => change({ ...draft, url: event.target.value })}
          />
        )}
      </Field>
      <Field
        label={usual.key ? t("models.key") : t("models.key.optional")}
        error={said(faults.key)}
      >
        {(wiring) => (
          <div className="row top">
            <span className="grow">
              <Password
                {...wiring}
                className="mono"
                show={t("ui.show_key")}
                hide={t("ui.hide_key")}
                value={draft.key}
                autoComplete="off"
                onChange={(event) => change({ ...draft, key: event.target.value })}
              />
            </span>
            <Button
              busy={test.isPending}
              onClick={tryIt}
              icon={<Plug className="i" size={16} aria-hidden />}
            >
              {test.isPending ? t("models.testing") : t("models.test")}
            </Button>
          </div>
        )}
      </Field>
      <TestResult result={test.data} error={test.error} kept={false} />
    </div>
  );
}
