/** A new agent: a name is enough, the rest is on its page. */
import { type FormEvent, useId, useState } from "react";
import { useLocation } from "wouter";
import { useCreateAgent } from "@/api/queries";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Avatar, Button, Dialog, Field, Input, Segmented, TextArea } from "@/ui";

const MAX_NAME = 64;
const MAX_DESCRIPTION = 280;

export function CreateAgent({ open, onClose }: { open: boolean; onClose: () => void }) {
  return open ? <Form onClose={onClose} /> : null;
}

function Form({ onClose }: { onClose: () => void }) {
  const t = useT();
  const [, go] = useLocation();
  const create = useCreateAgent();
  const form = useId();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [soul, setSoul] = useState("");
  const [shared, setShared] = useState<"all" | "me">("all");

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!name.trim()) return;
    create.mutate(
      {
        name: name.trim(),
        description: description.trim(),
        shared: shared === "all",
        ...(soul.trim() ? { soul } : {}),
      },
      {
        onSuccess: (agent) => {
          onClose();
          go(`/contacts/${agent.id}`);
        },
      },
    );
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={t("agents.new")}
      wide
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
      <form id={form} className="form" onSubmit={submit}>
        <div className="row row-4 top">
          <Avatar kind="agent" name={name.trim() || "?"} size={56} />
          <Field
            className="grow"
            label={t("agents.name")}
            error={create.error && explain(create.error).message}
          >
            {(wiring) => (
              <Input
                {...wiring}
                autoFocus
                maxLength={MAX_NAME}
                value={name}
                onChange={(event) => {
                  setName(event.target.value);
                  create.reset();
                }}
              />
            )}
          </Field>
        </div>
        <Field label={t("agents.description")} hint={t("agents.description.hint")}>
          {(wiring) => (
            <Input
              {...wiring}
              maxLength={MAX_DESCRIPTION}
              value={description}
              onChange={(event) => setDescription(event.target.value)}
            />
          )}
        </Field>
        <Field label="SOUL.md" hint={t("agents.soul.hint")}>
          {(wiring) => (
            <TextArea
              {...wiring}
              className="mono"
              rows={5}
              spellCheck={false}
              placeholder={t("agents.soul.example")}
              value={soul}
              onChange={(event) => setSoul(event.target.value)}
            />
          )}
        </Field>
        <div className="row wrap">
          <span className="label grow">{t("agents.shared")}</span>
          <Segmented
            label={t("agents.shared")}
            value={shared}
            onChange={setShared}
            choices={[
              { value: "all", label: t("agents.shared.all") },
              { value: "me", label: t("agents.shared.me") },
            ]}
          />
        </div>
      </form>
    </Dialog>
  );
}
