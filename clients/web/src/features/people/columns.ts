// The columns of the list on a desk, as the user of this browser has chosen them.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { type Day, daysBetween, daysFromNow, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { useAll } from "../../store/records.ts";
import { nextOccurrence } from "../person/dates.ts";

export type Column = "lastContact" | "nextDate" | "groups" | "town" | "organization";
const KEY = "contacts columns";

export const chosenColumns = signal<readonly Column[]>(JSON.parse(localStorage.getItem(KEY) ?? '["lastContact", "groups"]'));

export function toggleColumn(column: Column): void {
  const chosen = chosenColumns.value;
  chosenColumns.value = chosen.includes(column) ? chosen.filter((each) => each !== column) : [...chosen, column];
  localStorage.setItem(KEY, JSON.stringify(chosenColumns.value));
}

export function columnLabels(): [Column, string][] {
  return [
    ["lastContact", t("Last contact")],
    ["nextDate", t("Next date")],
    ["groups", t("Groups")],
    ["town", t("Town")],
    ["organization", t("Organization")],
  ];
}

// The next date of each person who has one, if it is wanted.
export function useNextDates(isWanted: boolean): ReadonlyMap<string, Day> {
  const { timezone, leapDayRule } = useAccount().settings.value;
  const now = today(timezone);
  const dates = useAll("importantDate", isWanted).value;
  return useMemo(() => {
    const found = new Map<string, Day>();
    for (const date of dates ?? []) {
      const day = nextOccurrence(date, now, leapDayRule);
      const known = found.get(date.personId);
      if (day && (!known || day < known)) found.set(date.personId, day);
    }
    return found;
  }, [dates, now, leapDayRule]);
}

// Returns a function that gives the text of a cell.
export function useCells(): (row: PersonRow, column: Column) => string {
  const { settings, groups } = useAccount();
  const now = today(settings.value.timezone);
  const next = useNextDates(chosenColumns.value.includes("nextDate"));
  const inWords = (day: Day | null | undefined) => (day ? daysFromNow(daysBetween(now, day)) : "");
  return (row, column) => {
    switch (column) {
      case "lastContact":
        return inWords(row.lastContact);
      case "nextDate":
        return inWords(next.get(row.id));
      case "groups":
        return row.groupIds.flatMap((id) => groups.byId.value.get(id)?.name ?? []).join(", ");
      case "town":
        return row.town ?? "";
      case "organization":
        return [row.jobTitle, row.organization].filter(Boolean).join(", ");
    }
  };
}
