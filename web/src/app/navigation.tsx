/** The rail at the side, and the tabs at the foot of a phone. */
import { ChartColumn, Keyboard, LogOut, MessageCircle, Settings, UsersRound } from "lucide-react";
import { Link } from "wouter";
import { useLogout, useMe } from "@/api/queries";
import { type PageKey, useT } from "@/i18n";
import { Avatar, cx, Logo, Menu, MenuItem, MenuLabel, MenuSeparator } from "@/ui";
import { openShortcuts } from "./shortcuts";

export type Area = "chats" | "contacts" | "usage" | "settings";

export const AREA_NAMES: Record<Area, PageKey> = {
  chats: "shell.chats",
  contacts: "shell.contacts",
  usage: "shell.usage",
  settings: "shell.settings",
};

interface Entry {
  area: Area;
  to: string;
  Icon: typeof Settings;
}

const UPPER: Entry[] = [
  { area: "chats", to: "/chats", Icon: MessageCircle },
  { area: "contacts", to: "/contacts", Icon: UsersRound },
  { area: "usage", to: "/usage", Icon: ChartColumn },
];
const LOWER: Entry[] = [{ area: "settings", to: "/settings", Icon: Settings }];
const ENTRIES = [...UPPER, ...LOWER];

function Item({ entry, on, size }: { entry: Entry; on: boolean; size: number }) {
  const t = useT();
  return (
    <Link
      href={entry.to}
      className={cx("n", on && "on")}
      {...(on ? { "aria-current": "page" as const } : {})}
    >
      <entry.Icon className="i" size={size} aria-hidden />
      {t(AREA_NAMES[entry.area])}
    </Link>
  );
}

export function Rail({ area }: { area: Area | null }) {
  const t = useT();
  return (
    <nav className="rail" aria-label={t("shell.nav")}>
      <Link href="/chats" aria-label={t("ui.app")} className="home" tabIndex={-1}>
        <Logo />
      </Link>
      {UPPER.map((entry) => (
        <Item key={entry.area} entry={entry} on={entry.area === area} size={20} />
      ))}
      <span className="sp" />
      {LOWER.map((entry) => (
        <Item key={entry.area} entry={entry} on={entry.area === area} size={20} />
      ))}
      <Account />
    </nav>
  );
}

function Account() {
  const t = useT();
  const me = useMe();
  const logout = useLogout();
  if (!me.data) return <span className="me-space" />;
  return (
    <Menu
      side="right"
      align="end"
      trigger={
        <button type="button" className="me-b" aria-label={t("shell.account")}>
          <Avatar kind="person" name={me.data.name} size={32} presence="present" />
        </button>
      }
    >
      <MenuLabel>{me.data.name}</MenuLabel>
      <MenuItem icon={<Keyboard className="i" size={16} aria-hidden />} onSelect={openShortcuts}>
        {t("shell.shortcuts")}
      </MenuItem>
      <MenuSeparator />
      <MenuItem
        icon={<LogOut className="i" size={16} aria-hidden />}
        onSelect={() => logout.mutate()}
      >
        {t("shell.logout")}
      </MenuItem>
    </Menu>
  );
}

export function TabBar({ area }: { area: Area | null }) {
  const t = useT();
  return (
    <nav className="tabbar" aria-label={t("shell.nav")}>
      {ENTRIES.map((entry) => (
        <Item key={entry.area} entry={entry} on={entry.area === area} size={22} />
      ))}
    </nav>
  );
}
