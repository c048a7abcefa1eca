// Which days come, of whom: from the copy, so it works offline. Quiet people have none, as in what the service sends.
import { addDays, type Day, daysBetween } from "../../i18n/days.ts";
import type { Account } from "../../store/account.ts";
import type { PersonRow } from "../../store/people.ts";
import { type ImportantDate, nextOccurrence, occasion, yearsInWords } from "../person/dates.ts";

export interface Occurrence {
  id: string;
  day: Day; // on which it is shown: what is overdue stands on today
  on: Day; // of the reminder
  source: { dateId: string; personId?: never } | { personId: string; dateId?: never } | null; // null: there is no reminder to answer
  row: PersonRow;
  title: string | null; // null: time to get in touch
  years: string | null; // how many it has been, in words
  isOverdue: boolean;
  isMemorial: boolean;
}

// The days of important dates from `from` to `to`, each occurrence once, in their order.
export function occurrences(account: Account, dates: readonly ImportantDate[], from: Day, to: Day): Occurrence[] {
  const { leapDayRule } = account.settings.value;
  const found: Occurrence[] = [];
  for (const date of dates) {
    const row = account.person(date.personId);
    if (!row || row.isQuiet) continue;
    for (let day = nextOccurrence(date, from, leapDayRule); day !== null && day <= to; day = nextOccurrence(date, addDays(day, 1), leapDayRule)) {
      const source = date.reminderEnabled ? { dateId: date.id } : null;
      const isMemorial = date.type === "MEMORIAL";
      found.push({ id: `${date.id} ${day}`, day, on: day, source, row, title: occasion(date), years: yearsInWords(date, day), isOverdue: false, isMemorial });
    }
  }
  return found.sort(byDay);
}

// Who is to be got in touch with until that day; what is overdue stands on today.
export function contactsDue(account: Account, now: Day, to: Day): Occurrence[] {
  return account.people.value.flatMap((row) => {
    const due = row.contactDue;
    if (due === null || due > to || row.isQuiet || row.id === account.meId) return [];
    const isOverdue = daysBetween(due, now) > 0;
    return [{ id: `contact ${row.id}`, day: isOverdue ? now : due, on: due, source: { personId: row.id }, row, title: null, years: null, isOverdue, isMemorial: false }];
  });
}

export function byDay(one: Occurrence, other: Occurrence): number {
  return one.day < other.day ? -1 : one.day > other.day ? 1 : one.row.sortKey < other.row.sortKey ? -1 : 1;
}
