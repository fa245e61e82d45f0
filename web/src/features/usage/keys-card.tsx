/** What the reader's own keys have spent today, and the way to them. */
import { KeyRound } from "lucide-react";
import { useApiKeys } from "@/api/queries";
import { useT } from "@/i18n";
import { money } from "@/i18n/format";
import { ButtonLink } from "@/ui";
import { Meter } from "./meter";

export function KeysCard() {
  const t = useT();
  const keys = useApiKeys();
  const shown = [...(keys.data ?? [])].sort((a, b) => b.spent - a.spent).slice(0, 4);
  return (
    <section className="card" aria-label={t("settings.keys")}>
      <header className="card-h">
        <h2 className="grow">{t("usage.keys")}</h2>
        <ButtonLink size="sm" kind="ghost" to="/settings/keys">
          {t("usage.keys.all")}
        </ButtonLink>
      </header>
      {keys.data?.length === 0 && <p className="hint bud">{t("usage.keys.none")}</p>}
      {shown.map((key) => (
        <Meter
          key={key.id}
          icon={<KeyRound className="i k3" size={14} aria-hidden />}
          name={key.name}
          spent={key.spent}
          limit={key.budget}
          said={money(key.spent)}
        />
      ))}
    </section>
  );
}
