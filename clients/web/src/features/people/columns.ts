// The columns of the list where it is wide enough, as the user of this browser has chosen them.
import { signal } from "@preact/signals";
import type { Records } from "contacts-client";
import { useMemo } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { type Day, daysBetween, daysFromNow, formatDay, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { useAll } from "../../store/records.ts";
import { nextOccurrence } from "../person/dates.ts";

export type Column = "phone" | "email" | "town" | "birthday" | "lastContact" | "nextDate" | "groups" | "organization";
const KEY = "contacts columns";

export const chosenColumns = signal<readonly Column[]>(JSON.parse(localStorage.getItem(KEY) ?? '["phone", "email", "town", "lastContact"]'));

export function toggleColumn(column: Column): void {
  const chosen = chosenColumns.value;
  chosenColumns.value = chosen.includes(column) ? chosen.filter((each) => each !== column) : [...chosen, column];
  localStorage.setItem(KEY, JSON.stringify(chosenColumns.value));
}

export function columnLabels(): [Column, string][] {
  return [
    ["phone", t("Phone|number")],
    ["email", t("E-mail")],
    ["town", t("Town")],
    ["birthday", t("Birthday")],
    ["lastContact", t("Last contact")],
    ["nextDate", t("Next date")],
    ["groups", t("Groups")],
    ["organization", t("Organization")],
  ];
}

export interface Dates {
  next: Day | null; // of any occasion
  birthday: Records["importantDate"] | null;
}

// The next date and the birthday of each person who has one, if they are wanted.
export function useDates(isWanted: boolean): ReadonlyMap<string, Dates> {
  const { timezone, leapDayRule } = useAccount().settings.value;
  const now = today(timezone);
  const dates = useAll("importantDate", isWanted).value;
  return useMemo(() => {
    const found = new Map<string, Dates>();
    for (const date of dates ?? []) {
      const known = found.get(date.personId) ?? { next: null, birthday: null };
      const day = nextOccurrence(date, now, leapDayRule);
      if (day && (!known.next || day < known.next)) known.next = day;
      if (date.type === "BIRTHDAY") known.birthday ??= date;
      found.set(date.personId, known);
    }
    return found;
  }, [dates, now, leapDayRule]);
}

// Returns a function that gives the text of a cell.
export function useCells(dates: ReadonlyMap<string, Dates>): (row: PersonRow, column: Column) => string {
  const { settings, groups } = useAccount();
  const { timezone, dateFormat } = settings.value;
  const now = today(timezone);
  const inWords = (day: Day | null | undefined) => (day ? daysFromNow(daysBetween(now, day)) : "");
  return (row, column) => {
    switch (column) {
      case "phone":
        return row.phone ?? "";
      case "email":
        return row.email ?? "";
      case "birthday": {
        const birthday = dates.get(row.id)?.birthday;
        if (!birthday) return "";
        return formatDay(birthday.date, dateFormat, birthday.yearUnknown);
      }
      case "lastContact":
        return inWords(row.lastContact);
      case "nextDate":
        return inWords(dates.get(row.id)?.next);
      case "groups":
        return row.groupIds.flatMap((id) => groups.byId.value.get(id)?.name ?? []).join(", ");
      case "town":
        return row.town ?? "";
      case "organization":
        return [row.jobTitle, row.organization].filter(Boolean).join(", ");
    }
  };
}
