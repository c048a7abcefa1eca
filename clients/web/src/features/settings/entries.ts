// What is set once: the entries of the list of settings, each with what is behind it in a few words.
import type { IconName } from "../../ui/Icon.tsx";

export type SettingKey = "you" | "look" | "reminders" | "devices" | "feeds" | "calendars" | "server" | "kinds" | "fields" | "security" | "data";

export interface Setting {
  key: SettingKey;
  path: string;
  label: string; // a text of t()
  hint: string; // what is there, also for the search
  icon: IconName;
  kind: "accent" | "tie" | "date" | "touch" | "place" | "note";
}

export const SETTINGS: Setting[] = [
  { key: "you", path: "/account", label: "You|settings", hint: "Name, photo, mail address", icon: "people", kind: "accent" },
  { key: "look", path: "/account/preferences", label: "Look and language", hint: "Language, colours, names, dates, time zone", icon: "eye", kind: "tie" },
  { key: "reminders", path: "/notifications", label: "Reminders", hint: "Mail, push messages, hour, quiet hours, weekly mail", icon: "bell", kind: "date" },
  { key: "devices", path: "/devices", label: "Phones and computers", hint: "Your people in the address book of a phone", icon: "device", kind: "touch" },
  { key: "feeds", path: "/calendar-feeds", label: "Calendar subscriptions", hint: "Birthdays in a calendar program", icon: "calendar", kind: "date" },
  { key: "calendars", path: "/calendars", label: "Calendars", hint: "What you had with your people is asked about, to log it", icon: "log", kind: "touch" },
  { key: "server", path: "/carddav", label: "Address book on a server", hint: "iCloud, Nextcloud and others (CardDAV)", icon: "cloud", kind: "place" },
  { key: "kinds", path: "/relationships", label: "Kinds of relationship", hint: "Sister, colleague, and what else you call them", icon: "link", kind: "tie" },
  { key: "fields", path: "/custom-fields", label: "Own fields", hint: "What you want to know of people beyond what is there", icon: "list", kind: "note" },
  { key: "security", path: "/account/security", label: "Sign-in and security", hint: "Password, second step, sessions, app passwords", icon: "lock", kind: "accent" },
  { key: "data", path: "/account/data", label: "Your data", hint: "Download, bring back, delete the account", icon: "file", kind: "place" },
];
