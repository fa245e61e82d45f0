import { UsersRound } from "lucide-react";
import { useT } from "@/i18n";
import { Empty } from "@/ui";

export default function NoContact() {
  const t = useT();
  return (
    <main className="main center" id="content" tabIndex={-1}>
      <Empty icon={<UsersRound className="i" size={22} aria-hidden />} title={t("agents.choose")}>
        {t("agents.choose.hint")}
      </Empty>
    </main>
  );
}
