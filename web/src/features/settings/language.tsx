/** The language of the page on this device, and that of the house for terminal and new people. */
import { useChangeSettings, useManages, useSettings } from "@/api/queries";
import { LANGUAGE_NAMES, LANGUAGES, match, setLanguage, useLanguage, useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Select, toast } from "@/ui";
import { Head, Line } from "./section";

export function LanguageSettings() {
  const t = useT();
  const language = useLanguage();
  const manages = useManages();
  const settings = useSettings(manages);
  const change = useChangeSettings();
  const house = settings.data?.language;
  const locked = settings.data?.locked?.includes("language");

  return (
    <>
      <Head title={t("settings.language")} />
      <div className="card">
        <Line title={t("settings.language.page")} about={t("settings.language.page.about")}>
          <Select
            className="set-select"
            aria-label={t("settings.language.page")}
            value={language}
            onChange={(event) => void setLanguage(match(event.target.value) ?? "en-US")}
          >
            {LANGUAGES.map((one) => (
              <option key={one} value={one} lang={one}>
                {LANGUAGE_NAMES[one]}
              </option>
            ))}
          </Select>
        </Line>
        {manages && settings.data && (
          <Line
            title={t("settings.language.house")}
            about={locked ? t("settings.locked") : t("settings.language.house.about")}
          >
            <Select
              className="set-select"
              aria-label={t("settings.language.house")}
              value={house ?? ""}
              disabled={locked || change.isPending}
              onChange={(event) =>
                change.mutate(
                  { language: event.target.value },
                  {
                    onSuccess: () => toast(t("ui.saved")),
                    onError: (error) => toast(explain(error).message),
                  },
                )
              }
            >
              {!house && <option value="">{t("settings.theme.system")}</option>}
              {LANGUAGES.map((one) => (
                <option key={one} value={one} lang={one}>
                  {LANGUAGE_NAMES[one]}
                </option>
              ))}
            </Select>
          </Line>
        )}
      </div>
    </>
  );
}
