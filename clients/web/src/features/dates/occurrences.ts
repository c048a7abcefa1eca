// Which days come, of whom: from the copy, so it works offline. Quiet people have none, as in what the service sends.
import { addDays, type Day, daysBetween } from "../../i18n/days.ts";
import { formatList, formatNumber, t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import type { PersonRow } from "../../store/people.ts";
import { type ImportantDate, nextOccurrence, occasion, yearsInWords, yearsOn } from "../person/dates.ts";

export interface Occurrence {
  id: string;
  day: Day; // on which it is shown: what is overdue stands on today
  on: Day; // of the reminder
  source: { dateId: string; personId?: never } | { personId: string; dateId?: never } | null; // null: there is no reminder to answer
  row: PersonRow;
  date: ImportantDate | null; // null: time to get in touch
  with: Occurrence | null; // that of a second person: a wedding is the day of two
  isOverdue: boolean;
  isMemorial: boolean; // also the birthday of somebody who died
}

// The days of important dates from `from` to `to`, each occurrence once, in their order.
export function occurrences(account: Account, dates: readonly ImportantDate[], from: Day, to: Day): Occurrence[] {
  const { leapDayRule } = account.settings.value;
  const found: Occurrence[] = [];
  for (const date of dates) {
    if (!mayCome(date, from, to)) continue;
    const row = account.person(date.personId);
    if (!row || row.isQuiet) continue;
    for (let day = nextOccurrence(date, from, leapDayRule); day !== null && day <= to; day = nextOccurrence(date, addDays(day, 1), leapDayRule)) {
      const source = date.reminderEnabled ? { dateId: date.id } : null;
      const isMemorial = date.type === "MEMORIAL" || row.hasDied;
      found.push({ id: `${date.id} ${day}`, day, on: day, source, row, date, with: null, isOverdue: false, isMemorial });
    }
  }
  return joinCouples(found.sort(byDay), account.meId);
}

// One line for two people with the same anniversary; who share a day with more than one other keep their own.
function joinCouples(found: Occurrence[], meId: string | null): Occurrence[] {
  const byWedding = new Map<string, Occurrence[]>();
  for (const each of found) {
    const { date, day, row, isMemorial } = each;
    if (date?.type !== "ANNIVERSARY" || date.yearUnknown || isMemorial || row.id === meId) continue;
    const key = `${day} ${date.date} ${date.title ?? ""}`;
    byWedding.set(key, [...(byWedding.get(key) ?? []), each]);
  }
  const seconds = new Set<Occurrence>();
  for (const [first, second, third] of byWedding.values()) {
    if (!second || third || first!.row.id === second.row.id) continue;
    first!.with = second;
    seconds.add(second);
  }
  return found.filter((each) => !seconds.has(each));
}

// Whose day it is: one person, or the two of a couple.
export function rowsOf({ row, with: other }: Occurrence): PersonRow[] {
  return other ? [row, other.row] : [row];
}

// Whether a date can have a day between these, by its month and day: with thousands of dates the exact days take long.
function mayCome({ date, reminderEnabled, reminderInterval, reminderIntervalUnit }: ImportantDate, from: Day, to: Day): boolean {
  const isYearly = !reminderEnabled || ((reminderInterval ?? 1) === 1 && (reminderIntervalUnit ?? "YEARS") === "YEARS");
  if (!isYearly || daysBetween(from, to) > LONGEST_SPAN) return true;
  const day = date.slice(5, 10);
  const [first, last] = [from.slice(5), to.slice(5)];
  if (day === "02-29") return true; // stands on another day in most years
  return first <= last ? day >= first && day <= last : day >= first || day <= last;
}

const LONGEST_SPAN = 180;
export const SPANS = [7, 30, 120, 365]; // days from a day on that are looked through, until enough is found

// The next ones from a day on, at most `count` of them, within a year.
export function nextOccurrences(account: Account, dates: readonly ImportantDate[], from: Day, count: number): Occurrence[] {
  let found: Occurrence[] = [];
  for (const days of SPANS) {
    found = occurrences(account, dates, from, addDays(from, days));
    if (found.length >= count) break;
  }
  return found.slice(0, count);
}

// Who is to be got in touch with until that day; what is overdue stands on today.
export function contactsDue(account: Account, now: Day, to: Day): Occurrence[] {
  return account.people.value.flatMap((row) => {
    const due = row.contactDue;
    if (due === null || due > to || row.isQuiet || row.hasDied || row.id === account.meId) return [];
    const isOverdue = daysBetween(due, now) > 0;
    return [{ id: `contact ${row.id}`, day: isOverdue ? now : due, on: due, source: { personId: row.id }, row, date: null, with: null, isOverdue, isMemorial: false }];
  });
}

// Dates of a day before those to get in touch with, each in the order of the names.
export function byDay(one: Occurrence, other: Occurrence): number {
  if (one.day !== other.day) return one.day < other.day ? -1 : 1;
  return Number(one.date === null) - Number(other.date === null) || (one.row.sortKey < other.row.sortKey ? -1 : 1);
}

// What it is and whose: "Ada turns 40", "Name day of Ben".
export function occurrenceInWords(occurrence: Occurrence): string {
  const { date, day, isMemorial } = occurrence;
  const name = formatList(rowsOf(occurrence).map((row) => row.name));
  if (!date) return t("Get in touch with {name}", { name });
  if (isMemorial && date.type !== "MEMORIAL") return t("In memory of {name}: {occasion}", { name, occasion: occasion(date) });
  if (date.type === "BIRTHDAY") {
    const count = yearsOn(date, day);
    return count ? t("{name} turns {count}", { name, count }) : t("Birthday of {name}", { name });
  }
  const what = date.type === "MEMORIAL" && !date.title ? t("In memory of {name}", { name }) : t("{occasion} of {name}", { occasion: occasion(date), name });
  const years = yearsInWords(date, day);
  return years ? `${what}: ${years}` : what;
}

// "Ada and Ben: 12 years", where the occasion stands beside it.
export function coupleInWords(occurrence: Occurrence): string {
  const names = formatList(rowsOf(occurrence).map(({ parts, name }) => parts.nickname || parts.name || name));
  const years = yearsInWords(occurrence.date!, occurrence.day);
  return years ? `${names}: ${years}` : names;
}

const MAX_NAMED = 5; // in the name of a day

// All of a day, for its name.
export function whoseInWords(found: readonly Occurrence[]): string {
  const named = found.slice(0, MAX_NAMED).map(occurrenceInWords);
  return [...named, found.length > MAX_NAMED && `+${formatNumber(found.length - MAX_NAMED)}`].filter(Boolean).join(", ");
}
