// The entries of the navigation. On a phone the first ones stand at the bottom, the others on the page "More".
import type { IconName } from "../ui/Icon.tsx";

export interface Entry {
  path: string;
  label: string; // a text of t()
  icon: IconName;
  isOnPhone?: boolean;
}

export const ENTRIES: Entry[] = [
  { path: "/", label: "Start", icon: "home", isOnPhone: true },
  { path: "/people", label: "People", icon: "people", isOnPhone: true },
  { path: "/dates", label: "Dates", icon: "calendar" },
  { path: "/groups", label: "Groups", icon: "group" },
  { path: "/network", label: "Network", icon: "network" },
  { path: "/map", label: "Map", icon: "location" },
  { path: "/relationships", label: "Relationships", icon: "link" },
  { path: "/custom-fields", label: "Custom fields", icon: "edit" },
  { path: "/duplicates", label: "Duplicates", icon: "copy" },
  { path: "/import", label: "Import", icon: "cloud" },
  { path: "/letters", label: "Letters|by post", icon: "print" },
  { path: "/calendar-feeds", label: "Calendar feeds", icon: "share" },
  { path: "/devices", label: "Phones and computers", icon: "phone" },
  { path: "/carddav", label: "Address book on a server", icon: "swap" },
  { path: "/notifications", label: "Notifications", icon: "mail" },
  { path: "/trash", label: "Trash", icon: "trash" },
];
