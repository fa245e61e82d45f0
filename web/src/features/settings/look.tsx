/** Theme, size of the reading text, motion: choices of this device. */
import { Check } from "lucide-react";
import { useId } from "react";
import { type PageKey, useT } from "@/i18n";
import { cx, Segmented, Switch } from "@/ui";
import {
  setLessMotion,
  setTextSize,
  setTheme,
  type TextSize,
  type Theme,
  useAppearance,
} from "./appearance";
import { Head, Line } from "./section";

const THEMES: { theme: Theme; name: PageKey }[] = [
  { theme: "light", name: "settings.theme.light" },
  { theme: "dark", name: "settings.theme.dark" },
  { theme: "system", name: "settings.theme.system" },
];
const SIZES: TextSize[] = ["14", "15", "16", "18"];

export function Look() {
  const t = useT();
  const { theme, text, lessMotion } = useAppearance();
  const name = useId();
  return (
    <>
      <Head title={t("settings.look")} />
      <div className="card">
        <Line top title={t("settings.theme")} about={t("settings.theme.about")}>
          <div className="row row-3 themes" role="radiogroup" aria-label={t("settings.theme")}>
            {THEMES.map((one) => (
              <label
                key={one.theme}
                className={cx("th", `th-${one.theme}`, one.theme === theme && "on")}
              >
                <input
                  type="radio"
                  className="sr"
                  name={name}
                  checked={one.theme === theme}
                  onChange={() => setTheme(one.theme)}
                />
                <span className="th-pic" aria-hidden>
                  <i />
                  <i />
                </span>
                <span className="th-name">
                  {t(one.name)}
                  {one.theme === theme && <Check className="i" size={14} aria-hidden />}
                </span>
              </label>
            ))}
          </div>
        </Line>
        <Line title={t("settings.text")} about={t("settings.text.about")}>
          <Segmented
            label={t("settings.text")}
            value={text}
            onChange={setTextSize}
            choices={SIZES.map((size) => ({ value: size, label: size }))}
          />
        </Line>
        <Line title={t("settings.motion")} about={t("settings.motion.about")}>
          <Switch label={t("settings.motion")} checked={lessMotion} onChange={setLessMotion} />
        </Line>
      </div>
    </>
  );
}
