/** One provider: where it is, its masked key, a test, and the way out. */
import "./models.css";
import { Ellipsis, KeyRound, Plug, Trash2 } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useChangeSettings, useTestModel } from "@/api/queries";
import type { ProviderSettings } from "@/api/types";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Button, Dialog, Field, IconButton, Menu, MenuItem, Password, toast } from "@/ui";
import { TestResult } from "./test-result";
import { useVendorName } from "./vendor-name";
import { addressOf, OWN, vendorOf } from "./vendors";

interface Props {
  name: string;
  provider: ProviderSettings;
  /** One of its models, to be asked for a test. */
  model: string | null;
  locked: boolean;
}

export function ProviderRow({ name, provider, model, locked }: Props) {
  const t = useT();
  const test = useTestModel();
  const change = useChangeSettings();
  const [dialog, setDialog] = useState<"key" | "remove" | null>(null);
  const vendor = vendorOf(name);
  const nameOf = useVendorName();
  const title = vendor && vendor !== OWN ? nameOf(vendor) : name;

  return (
    <div className="set set-provider">
      <div>
        <b>
          {title} {title !== name && <span className="mono k3 t12">{name}</span>}
        </b>
        <small className="mono">{addressOf(name, provider.vendor, provider.base_url)}</small>
        <small>
          {provider.api_key
            ? t("settings.provider.key", { key: provider.api_key })
            : t("settings.provider.no_key")}
          {locked && ` · ${t("settings.locked")}`}
        </small>
      </div>
      <div className="row row-1">
        <Button
          size="sm"
          busy={test.isPending}
          disabled={!model}
          onClick={() => model && test.mutate({ model })}
          icon={<Plug className="i" size={14} aria-hidden />}
        >
          {test.isPending ? t("models.testing") : t("models.test")}
        </Button>
        <Menu
          trigger={
            <IconButton
              label={t("settings.provider.more", { name: title })}
              tip={false}
              disabled={locked}
            >
              <Ellipsis className="i" size={16} aria-hidden />
            </IconButton>
          }
        >
          <MenuItem
            icon={<KeyRound className="i" size={16} aria-hidden />}
            onSelect={() => setDialog("key")}
          >
            {t("settings.provider.new_key")}
          </MenuItem>
          <MenuItem
            danger
            icon={<Trash2 className="i" size={16} aria-hidden />}
            onSelect={() => setDialog("remove")}
          >
            {t("settings.provider.remove")}
          </MenuItem>
        </Menu>
      </div>
      {(test.data || test.error) && (
        <div className="set-below">
          <TestResult result={test.data} error={test.error} kept />
        </div>
      )}
      {dialog === "key" && <NewKey name={name} title={title} onClose={() => setDialog(null)} />}
      <Dialog
        open={dialog === "remove"}
        onClose={() => setDialog(null)}
        title={t("settings.provider.remove.title", { name: title })}
        description={t("settings.provider.remove.about")}
        actions={
          <>
            <Button onClick={() => setDialog(null)}>{t("ui.cancel")}</Button>
            <Button
              kind="danger-filled"
              busy={change.isPending}
              onClick={() =>
                change.mutate(
                  { providers: { [name]: null } },
                  {
                    onSuccess: () => setDialog(null),
                    onError: (error) => toast(explain(error).message),
                  },
                )
              }
            >
              {t("settings.provider.remove")}
            </Button>
          </>
        }
      />
    </div>
  );
}

function NewKey({ name, title, onClose }: { name: string; title: string; onClose: () => void }) {
  const t = useT();
  const change = useChangeSettings();
  const form = useId();
  const [key, setKey] = useState("");
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!key.trim()) return;
    change.mutate(
      { providers: { [name]: { api_key: key.trim() } } },
      {
        onSuccess: () => {
          onClose();
          toast(t("ui.saved"));
        },
      },
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t("settings.provider.new_key.title", { name: title })}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind="primary"
            type="submit"
            form={form}
            busy={change.isPending}
            disabled={!key.trim()}
          >
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <Field label={t("models.key")} error={change.error && explain(change.error).message}>
          {(wiring) => (
            <Password
              {...wiring}
              className="mono"
              show={t("ui.show_key")}
              hide={t("ui.hide_key")}
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
