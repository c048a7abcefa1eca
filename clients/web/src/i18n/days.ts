// Days and times in the account's zone and formats. A day is text, `YYYY-MM-DD`: it has no zone.
import { language, t } from "./index.ts";

export type Day = string;
export type DateFormat = "MDY" | "DMY" | "YMD";

const DAY_MILLISECONDS = 86_400_000;
// The year that stands for an unknown one, as in the contract: a leap year.
const UNKNOWN_YEAR = "1604";

// Today in the zone, whatever that of the browser is.
export function today(zone: string | null, now: Date = new Date()): Day {
  const name = zone ?? "UTC";
  let format = dayFormats.get(name);
  // The Swedish format of a date is ISO 8601.
  if (!format) dayFormats.set(name, (format = new Intl.DateTimeFormat("sv-SE", { timeZone: name, dateStyle: "short" })));
  return format.format(now);
}

const dayFormats = new Map<string, Intl.DateTimeFormat>(); // by zone; each takes a millisecond to make

export function dayOf(timestamp: string, zone: string | null): Day {
  return today(zone, new Date(timestamp));
}

// What a clock in the zone shows, as an input of type datetime-local has it.
export function wallTime(time: Date, zone: string | null): string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone ?? "UTC", dateStyle: "short", timeStyle: "short" });
  return format.format(time).replace(" ", "T");
}

// The time when a clock in the zone shows this; the later one of the two hours that a change of the clocks repeats.
export function timeAt(wall: string, zone: string | null): string {
  const shown = Date.parse(`${wall}Z`);
  const offset = (time: number) => Date.parse(`${wallTime(new Date(time), zone)}Z`) - Math.floor(time / 60_000) * 60_000;
  const guess = shown - offset(shown);
  return new Date(shown - offset(guess)).toISOString();
}

export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MILLISECONDS).toISOString().slice(0, 10);
}

// The same day of another month, its last day if it has no such day; 29 February by the account's rule.
export function addMonths(day: Day, months: number, leapDayRule: "FEB28" | "MAR1" = "FEB28"): Day {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number];
  const at = year * 12 + month - 1 + months;
  const [newYear, newMonth] = [Math.floor(at / 12), at % 12];
  const lastDay = new Date(Date.UTC(newYear, newMonth + 1, 0)).getUTCDate();
  if (month === 2 && date === 29 && lastDay === 28 && newMonth === 1 && leapDayRule === "MAR1") return `${pad(newYear, 4)}-03-01`;
  return `${pad(newYear, 4)}-${pad(newMonth + 1)}-${pad(Math.min(date, lastDay))}`;
}

function pad(value: number, digits = 2): string {
  return String(value).padStart(digits, "0");
}

// A day after an interval of a reminder.
export function addInterval(day: Day, count: number, unit: "DAYS" | "WEEKS" | "MONTHS" | "YEARS"): Day {
  if (unit === "DAYS" || unit === "WEEKS") return addDays(day, count * (unit === "WEEKS" ? 7 : 1));
  return addMonths(day, count * (unit === "YEARS" ? 12 : 1));
}

export function daysBetween(from: Day, to: Day): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MILLISECONDS);
}

// In digits, in the order of the account. Without the year if that is unknown.
export function formatDay(day: Day, format: DateFormat, yearUnknown = day.startsWith(UNKNOWN_YEAR)): string {
  const [year, month, date] = day.slice(0, 10).split("-") as [string, string, string];
  if (yearUnknown) return format === "DMY" ? `${date}/${month}` : format === "MDY" ? `${month}/${date}` : `${month}-${date}`;
  return { DMY: `${date}/${month}/${year}`, MDY: `${month}/${date}/${year}`, YMD: `${year}-${month}-${date}` }[format];
}

// In words: "9 December" or "Tuesday, 9 December 1988".
export function dayInWords(day: Day, options: Intl.DateTimeFormatOptions = { day: "numeric", month: "long" }): string {
  return new Intl.DateTimeFormat(language.value, { timeZone: "UTC", ...options }).format(new Date(`${day.slice(0, 10)}T00:00:00Z`));
}

export function timeInWords(timestamp: string, zone: string | null): string {
  const format = { timeZone: zone ?? "UTC", dateStyle: "medium", timeStyle: "short" } as const;
  return new Intl.DateTimeFormat(language.value, format).format(new Date(timestamp));
}

// "today", "in 3 days", "2 months ago".
export function daysFromNow(days: number): string {
  if (days === 0) return t("today");
  const [count, unit] =
    Math.abs(days) < 60 ? [days, "day"] : Math.abs(days) < 730 ? [Math.trunc(days / 30.44), "month"] : [Math.trunc(days / 365.25), "year"];
  return new Intl.RelativeTimeFormat(language.value, { numeric: "auto" }).format(count as number, unit as Intl.RelativeTimeFormatUnit);
}
