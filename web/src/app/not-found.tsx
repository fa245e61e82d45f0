import { Compass } from "lucide-react";
import { useLocation } from "wouter";
import { useT } from "@/i18n";
import { ButtonLink, Empty } from "@/ui";

export function NotFound() {
  const t = useT();
  const [path] = useLocation();
  return (
    <main className="main center" id="content" tabIndex={-1}>
      <Empty
        icon={<Compass className="i" size={22} aria-hidden />}
        title={t("ui.not_found")}
        actions={
          <ButtonLink to="/chats" kind="primary">
            {t("shell.home")}
          </ButtonLink>
        }
      >
        {t("ui.not_found.hint", { path: decodeURI(path) })}
      </Empty>
    </main>
  );
}
