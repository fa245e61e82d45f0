/** Which version this is, and whose work is in it. */
import { useStatus } from "@/api/queries";
import { useT } from "@/i18n";
import { Logo } from "@/ui";
import { Head, Line } from "./section";

export function About() {
  const t = useT();
  const status = useStatus();
  return (
    <>
      <Head title={t("settings.about")} />
      <div className="card">
        <div className="set set-me">
          <Logo />
          <div className="grow">
            <b>{t("ui.app")}</b>
            <small className="num">
              {t("setup.version", { version: status.data?.version ?? "" })}
            </small>
          </div>
        </div>
        <Line title={t("settings.about.licence")} about={t("settings.about.licence.about")}>
          <a className="t13" href="/licenses.txt" target="_blank" rel="noreferrer">
            {t("settings.about.others")}
          </a>
        </Line>
      </div>
    </>
  );
}
