// Days and times in the account's zone and formats, words and clock as in the browser's region. A day is text, `YYYY-MM-DD`:
// it has no zone.
import { language, locale, t } from "./index.ts";

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
  if (format === "YMD") return yearUnknown ? `${month}-${date}` : `${year}-${month}-${date}`;
  if (format === "MDY") return yearUnknown ? `${month}/${date}` : `${month}/${date}/${year}`;
  const separator = dateSeparator();
  return [date, month, yearUnknown ? "" : year].join(separator).replace(/[^.\d]$/, "");
}

// What stands between the parts of a date in the language: 31.12.2026, 31/12/2026.
function dateSeparator(): string {
  const parts = formatOf(language.value, { day: "2-digit", month: "2-digit", year: "numeric" }).formatToParts(0);
  return parts.find(({ type }) => type === "literal")?.value.trim() ?? "/";
}

// In words: "9 December" or "Tuesday, 9 December 1988".
export function dayInWords(day: Day, options: Intl.DateTimeFormatOptions = { day: "numeric", month: "long" }): string {
  return formatOf(locale(), options).format(new Date(`${day.slice(0, 10)}T00:00:00Z`));
}

// As people say it: "tomorrow", "Monday" within a week, then day and month, with the year if it is another one.
export function nearDayInWords(day: Day, now: Day): string {
  const days = daysBetween(now, day);
  if (Math.abs(days) < 2) return daysFromNow(days);
  if (Math.abs(days) < 7) return dayInWords(day, { weekday: "long" });
  return dayInWords(day, { day: "numeric", month: "long", ...(day.slice(0, 4) !== now.slice(0, 4) && Math.abs(days) > 180 && { year: "numeric" }) });
}

// As people say it within a week, "yesterday 13:44", then with the date.
export function timeInWords(timestamp: string, zone: string | null): string {
  const [day, now] = [dayOf(timestamp, zone), today(zone)];
  if (Math.abs(daysBetween(now, day)) < 7) return `${nearDayInWords(day, now)} ${clockInWords(new Date(timestamp), zone)}`;
  return formatOf(locale(), { timeZone: zone ?? "UTC", dateStyle: "medium", timeStyle: "short" }).format(new Date(timestamp));
}

// What a clock in the zone shows: "13:44" or "1:44 PM".
export function clockInWords(time: Date, zone: string | null): string {
  return formatOf(locale(), { timeZone: zone ?? "UTC", timeStyle: "short" }).format(time);
}

// "08:00" or "8:00 AM".
export function hourInWords(hour: number): string {
  return clockInWords(new Date(Date.UTC(2023, 0, 1, hour)), "UTC");
}

const formats = new Map<string, Intl.DateTimeFormat>(); // each takes a tenth of a millisecond to make, and lists have many

function formatOf(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${name} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (!format) formats.set(key, (format = new Intl.DateTimeFormat(name, { timeZone: "UTC", ...options })));
  return format;
}

type WithWeek = Intl.Locale & { getWeekInfo?: () => { firstDay: number }; weekInfo?: { firstDay: number } };
// Where a week begins on Sunday, for browsers that do not know (Firefox). Elsewhere it begins on Monday, by ISO 8601.
const SUNDAY_REGIONS = "AU BR CA CO HK ID IL IN JP KR MX PE PH PT SA SG TH TW US VE ZA";

// The day with which a week begins in the browser's region: 1 is Monday, 7 is Sunday.
export function firstDayOfWeek(): number {
  const region = new Intl.Locale(locale()) as WithWeek;
  return (region.getWeekInfo?.() ?? region.weekInfo)?.firstDay ?? (SUNDAY_REGIONS.includes(region.region!) ? 7 : 1);
}

// The day with which the week of this one begins.
export function weekOf(day: Day): Day {
  return addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() - firstDayOfWeek() + 7) % 7));
}

// "today", "in 3 days", "2 months ago".
export function daysFromNow(days: number): string {
  if (days === 0) return t("today");
  const [count, unit] =
    Math.abs(days) < 60 ? [days, "day"] : Math.abs(days) < 730 ? [Math.trunc(days / 30.44), "month"] : [Math.trunc(days / 365.25), "year"];
  return new Intl.RelativeTimeFormat(language.value, { numeric: "auto" }).format(count as number, unit as Intl.RelativeTimeFormatUnit);
}
