// The second line of a row, as the user of this browser has chosen.
import { signal } from "@preact/signals";
import { daysBetween, daysFromNow, today } from "../../i18n/days.ts";
import type { Settings } from "../../store/account.ts";
import type { PersonRow } from "../../store/people.ts";

export const SECOND_LINES = ["organization", "lastContact", "group", "town"] as const;
export type SecondLine = (typeof SECOND_LINES)[number];
const KEY = "contacts second line";

export const chosenLine = signal<SecondLine>((localStorage.getItem(KEY) as SecondLine | null) ?? "organization");

export function chooseLine(line: SecondLine): void {
  localStorage.setItem(KEY, line);
  chosenLine.value = line;
}

export function secondLine(row: PersonRow, settings: Settings, groups: ReadonlyMap<string, { name: string }>): string {
  switch (chosenLine.value) {
    case "organization":
      return [row.jobTitle, row.organization].filter(Boolean).join(", ");
    case "lastContact":
      return row.lastContact ? daysFromNow(daysBetween(today(settings.timezone), row.lastContact)) : "";
    case "group":
      return row.groupIds.flatMap((id) => groups.get(id)?.name ?? []).join(", ");
    case "town":
      return row.town ?? "";
  }
}

