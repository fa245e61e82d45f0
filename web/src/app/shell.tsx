/** The frame: rail, list and main, folded by width into one view at a time with tabs below. */
import { type ReactNode, Suspense, useEffect } from "react";
import { useT } from "@/i18n";
import { cx, Skeleton } from "@/ui";
import { ConnectionBanner } from "./connection-banner";
import { ModelBanner } from "./model-banner";
import { AREA_NAMES, type Area, Rail, TabBar } from "./navigation";
import { Shortcuts } from "./shortcuts";

interface Props {
  area: Area | null;
  /** A particular thing is open, so a narrow page shows it instead of the list. */
  inner: boolean;
  list?: ReactNode;
  main: ReactNode;
}

export function Shell({ area, inner, list, main }: Props) {
  const t = useT();
  const title = area ? `${t(AREA_NAMES[area])} · ${t("ui.app")}` : t("ui.app");
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <div className={cx("app", !list && "wide", inner ? "at-main" : "at-list")}>
      <a className="skip" href="#content">
        {t("shell.skip")}
      </a>
      <div className="top-ban">
        <ConnectionBanner />
        {area !== "settings" && <ModelBanner />}
      </div>
      <Rail area={area} />
      {list && <Suspense fallback={<section className="pane list" />}>{list}</Suspense>}
      <Suspense
        fallback={
          <main className="main">
            <Skeleton />
          </main>
        }
      >
        {main}
      </Suspense>
      {!inner && <TabBar area={area} />}
      <Shortcuts />
    </div>
  );
}
