// Where things are: the places, which are ways to look at the same people; tools; settings are in features/settings.
import { t } from "../i18n/index.ts";
import type { IconName } from "../ui/Icon.tsx";
import { navigate } from "./router.ts";
import { place } from "./router.ts";

export interface Entry {
  path: string;
  label: string; // a text of t()
  icon: IconName;
  key: string; // after `g`
}

export const PLACES: Entry[] = [
  { path: "/", label: "Today", icon: "sun", key: "t" },
  { path: "/people", label: "People", icon: "group", key: "p" },
  { path: "/dates", label: "Dates", icon: "calendar", key: "d" },
  { path: "/network", label: "Network", icon: "network", key: "n" },
  { path: "/map", label: "Map", icon: "location", key: "m" },
];

export const TOOLS: Omit<Entry, "key">[] = [
  { path: "/duplicates", label: "Duplicates", icon: "copy" },
  { path: "/relationships/suggestions", label: "Suggested ties", icon: "link" },
  { path: "/import", label: "Import", icon: "file" },
  { path: "/letters", label: "Letters|by post", icon: "print" },
  { path: "/trash", label: "Trash", icon: "trash" },
];

const SETTINGS_KEY = "s";
const PAUSE_MILLISECONDS = 1500;

export function isCurrent(target: string): boolean {
  const { path } = place.value;
  return path === target || (target !== "/" && path.startsWith(`${target}/`));
}

// After `g` the next key goes to a place.
export function goByKey(): void {
  const listener = (event: KeyboardEvent) => {
    end();
    const found = event.key === SETTINGS_KEY ? "/settings" : PLACES.find(({ key }) => key === event.key)?.path;
    if (!found) return;
    event.preventDefault();
    event.stopPropagation();
    navigate(found);
  };
  const end = () => {
    clearTimeout(timer);
    removeEventListener("keydown", listener, { capture: true });
  };
  const timer = setTimeout(end, PAUSE_MILLISECONDS);
  addEventListener("keydown", listener, { capture: true });
}

export function placesByKey(): string {
  return [...PLACES.map(({ label, key }) => `g ${key} ${t(label)}`), `g ${SETTINGS_KEY} ${t("Settings")}`].join(", ");
}
