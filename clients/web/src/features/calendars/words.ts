// Calendars in words: where their addresses are found, how they stand, why one cannot be read.
import type { components } from "contacts-client";
import { timeInWords } from "../../i18n/days.ts";
import { capitalized, formatList, t, tn } from "../../i18n/index.ts";

export type Source = components["schemas"]["Source"];
export type Way = Source["kind"]; // a secret address (`ics`), or a sign-in (`caldav`)
export type Provider = "google" | "outlook" | "icloud" | "nextcloud" | "other";

interface Words {
  label: string;
  ways: Way[];
  server?: string; // where one signs in
}

export const PROVIDERS: Record<Provider, Words> = {
  google: { label: "Google", ways: ["ics"] },
  outlook: { label: "Outlook", ways: ["ics"] },
  icloud: { label: "iCloud", ways: ["caldav", "ics"], server: "https://caldav.icloud.com/" },
  nextcloud: { label: "Nextcloud", ways: ["caldav", "ics"] },
  other: { label: "Another|calendar", ways: ["ics", "caldav"] },
};

export const WAYS: Record<Way, { label: string }> = {
  ics: { label: "By its address" },
  caldav: { label: "Sign in there" },
};

// How to find what the form asks for.
const HELP: Record<Provider, Partial<Record<Way, { hint: string }>>> = {
  google: {
    ics: { hint: "In Google Calendar on a computer, open Settings, choose your calendar at the left, and go to “Integrate calendar”. Copy the “Secret address in iCal format”. Whoever has it can read the calendar, so give it to nobody else." },
  },
  outlook: {
    ics: { hint: "In Outlook on the web, open Settings, Calendar, Shared calendars, and there “Publish a calendar”. Choose the calendar and “Can view all details”, publish it, and copy the ICS link." },
  },
  icloud: {
    caldav: { hint: "Your user name is the mail address of your Apple Account. The password is an app-specific one: you make it at account.apple.com, under “Sign-In and Security”." },
    ics: { hint: "On iCloud.com, in Calendar, press the sign for sharing beside the calendar, switch “Public Calendar” on, and copy the link. Everybody who has the link can read the calendar then; to keep it private, sign in instead." },
  },
  nextcloud: {
    caldav: { hint: "The address is the one at which you open your Nextcloud. Make an app password there, in Settings under Security, and use it here with your user name." },
    ics: { hint: "In the Calendar app of your Nextcloud, press the pencil beside the calendar and share it by a link. Behind the three dots of the link is “Copy subscription link”." },
  },
  other: {
    ics: { hint: "Look for “iCal”, “ICS” or “Subscribe” in the settings of the calendar. The address often ends in .ics or begins with webcal:." },
    caldav: { hint: "The server needs CalDAV: its address, your user name and your password there. If you sign in there with a second step, make an app password for this." },
  },
};

export function helpOf(provider: Provider, way: Way): string {
  const { hint } = HELP[provider][way]!;
  return t(hint);
}

// Whose calendar an address is.
export function nameByAddress(address: string): string {
  const host = hostOf(address);
  if (/(^|\.)google\.com$/.test(host)) return "Google";
  if (/(^|\.)(outlook|office|office365|live)\.com$/.test(host)) return "Outlook";
  if (/(^|\.)icloud\.com$/.test(host)) return "iCloud";
  return host || t("Calendar");
}

export function hostOf(address: string): string {
  try {
    return new URL(withScheme(address)).hostname;
  } catch {
    return "";
  }
}

// As people type it: "cloud.example.org".
export function withScheme(address: string): string {
  const typed = address.trim();
  return typed === "" || /^[a-z][a-z\d+.-]*:/i.test(typed) && !/^[^/]+:\d+/.test(typed) ? typed : `https://${typed}`;
}

const CODES: Record<string, { label: string }> = {
  auth: { label: "The server does not take the user name or the password." },
  busy: { label: "The server is busy. It is asked again by itself." },
  dns: { label: "There is no server of this name. Is the address complete?" },
  http_4xx: { label: "The server does not give the calendar out. Was the address copied whole, and is the calendar still shared?" },
  http_5xx: { label: "The server has a fault of its own. It is asked again by itself." },
  interrupted: { label: "The connection to the server broke off. It is asked again by itself." },
  not_calendar: { label: "There is no calendar at this address. Was it copied whole?" },
  policy: { label: "This service may not go to this address. Ask who runs it." },
  redirect: { label: "The address leads from one to the next and to no calendar. Copy it anew." },
  refused: { label: "Nobody answers at this address." },
  timeout: { label: "The server did not answer in time. It is asked again by itself." },
  tls: { label: "The server cannot be trusted: its certificate is not valid." },
  too_large: { label: "The calendar is too large: at most 10 MiB and 20,000 events are read." },
};

// Null for a code that is not one of a calendar.
export function errorInWords(code: string | undefined): string | null {
  const words = CODES[code ?? ""];
  return words ? t(words.label) : null;
}

export function daysBackOptions(): [value: string, label: string][] {
  const weeks = [7, 30, 90, 180, 365];
  return [["0", capitalized(t("only from now on"))], ...weeks.map((days): [string, string] => [String(days), tn("{count} day back", "{count} days back", days)])];
}

// How it stands.
export function stateInWords(source: Source, zone: string | null): string {
  const { url, state, lastError } = source;
  if (!url) return t("Its address is missing: type it once more under Change.");
  if (state === "reading") return t("Is being read");
  if (state === "new") return t("Is read in a moment");
  if (state === "failing") return errorInWords(lastError?.code) ?? lastError!.error;
  return lastReadInWords(source, zone) ?? t("Not read yet");
}

export function lastReadInWords({ lastReadAt }: Source, zone: string | null): string | null {
  return lastReadAt && t("Last read {when}", { when: timeInWords(lastReadAt, zone) });
}

export function nextReadInWords({ nextReadAt }: Source, zone: string | null): string | null {
  return nextReadAt && t("Next attempt {when}", { when: timeInWords(nextReadAt, zone) });
}

// Which of its calendars are read, where it has several.
export function calendarsInWords({ calendars }: Source): string | null {
  const chosen = calendars.filter((each) => each.chosen);
  if (calendars.length === 0) return null;
  return chosen.length === calendars.length ? tn("{count} calendar is read", "All {count} calendars are read", calendars.length) : formatList(chosen.map(({ name, href }) => name || href));
}
