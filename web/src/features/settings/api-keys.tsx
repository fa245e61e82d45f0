/** Keys with which one's own programs may speak to the house. */
import { Check, Copy, KeyRound, Plus } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useApiKeys, useCreateApiKey, useRemoveApiKey } from "@/api/queries";
import type { ApiKey, NewApiKey } from "@/api/types";
import { useT } from "@/i18n";
import { date } from "@/i18n/format";
import { explain } from "@/i18n/problem";
import { Banner, Button, Dialog, Failure, Field, Input, Skeleton, toast } from "@/ui";
import { Head } from "./section";

export function ApiKeys() {
  const t = useT();
  const keys = useApiKeys();
  const [creating, setCreating] = useState(false);
  return (
    <>
      <Head
        title={t("settings.keys")}
        about={t("settings.keys.about")}
        action={
          <Button
            size="sm"
            icon={<Plus className="i" size={14} aria-hidden />}
            onClick={() => setCreating(true)}
          >
            {t("settings.keys.new")}
          </Button>
        }
      />
      <div className="card">
        {keys.isPending && <Skeleton rows={1} />}
        {keys.isError && <Failure error={keys.error} retry={() => void keys.refetch()} />}
        {keys.data?.length === 0 && (
          <div className="set k3 t13">
            <div>{t("settings.keys.none")}</div>
          </div>
        )}
        {keys.data?.map((key) => (
          <Row key={key.id} of={key} />
        ))}
      </div>
      {creating && <NewKey onClose={() => setCreating(false)} />}
    </>
  );
}

function Row({ of: key }: { of: ApiKey }) {
  const t = useT();
  const remove = useRemoveApiKey();
  const [asking, setAsking] = useState(false);
  return (
    <div className="set">
      <div className="row row-3">
        <KeyRound className="i k3" size={16} aria-hidden />
        <div>
          <b>{key.name}</b>
          <small>
            {t("settings.keys.made", { date: date(key.created_at) })}
            {key.last_used_at && ` · ${t("settings.keys.used", { date: date(key.last_used_at) })}`}
          </small>
        </div>
      </div>
      <Button size="sm" kind="danger" onClick={() => setAsking(true)}>
        {t("settings.keys.remove")}
      </Button>
      <Dialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t("settings.keys.remove.title", { name: key.name })}
        description={t("settings.keys.remove.about")}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>{t("ui.cancel")}</Button>
            <Button
              kind="danger-filled"
              busy={remove.isPending}
              onClick={() =>
                remove.mutate(key.id, { onError: (error) => toast(explain(error).message) })
              }
            >
              {t("settings.keys.remove")}
            </Button>
          </>
        }
      />
    </div>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const t = useT();
  const create = useCreateApiKey();
  const form = useId();
  const [name, setName] = useState("");
  function submit(event: FormEvent) {
    event.preventDefault();
    if (name.trim()) create.mutate(name.trim());
  }
  if (create.data) return <Made made={create.data} onClose={onClose} />;
  return (
    <Dialog
      open
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
            disabled={!name.trim()}
          >
            {t("agents.create")}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <Field
          label={t("settings.keys.name")}
          hint={t("settings.keys.name.hint")}
          error={create.error && explain(create.error).message}
        >
          {(wiring) => (
            <Input
              {...wiring}
              autoFocus
              maxLength={64}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
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
