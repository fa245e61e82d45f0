/** Says that the house cannot be reached, when it tries again, and lets one try now. */
import { WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { useT } from "@/i18n";
import { Banner, Button } from "@/ui";
import { useConnection } from "./connection";

function useSecondsUntil(at: number | null): number {
  const left = () => (at === null ? 0 : Math.max(0, Math.ceil((at - performance.now()) / 1000)));
  const [, tick] = useState(0);
  useEffect(() => {
    if (at === null) return;
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [at]);
  return left();
}

export function ConnectionBanner() {
  const t = useT();
  const { online, retryAt, retry } = useConnection();
  const seconds = useSecondsUntil(retryAt);
  if (online) return null;
  return (
    <Banner
      tone="warning"
      icon={<WifiOff className="i" size={16} aria-hidden />}
      action={
        retry && (
          <Button size="sm" onClick={retry}>
            {t("shell.offline.retry")}
          </Button>
        )
      }
    >
      <b className="semi">{t("shell.offline")}</b>{" "}
      <span className="num" aria-live="off">
        {seconds > 0 ? t("shell.offline.retry_in", { seconds }) : t("shell.offline.trying")}
      </span>
    </Banner>
  );
}
