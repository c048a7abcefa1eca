// Important dates: the next occurrence, in the account's zone and by its rule for 29 February, and what is said of it.
import type { Records } from "contacts-client";
import { t, tn } from "../../i18n/index.ts";
import { addDays, addMonths, type Day, dayInWords } from "../../i18n/days.ts";

export type ImportantDate = Records["importantDate"];

export function occasion({ type, title }: Pick<ImportantDate, "type" | "title">): string {
  if (title) return title;
  const names: Record<string, string> = {
    BIRTHDAY: t("Birthday"),
    ANNIVERSARY: t("Anniversary"),
    NAMEDAY: t("Name day"),
    MEMORIAL: t("Memorial day"),
  };
  return names[type ?? ""] ?? t("Date");
}

// The first occurrence on or after `from`; null for a day that is over and does not come again.
export function nextOccurrence(date: ImportantDate, from: Day, leapDayRule: "FEB28" | "MAR1" = "FEB28"): Day | null {
  const first = date.date.slice(0, 10);
  if (date.reminderEnabled && date.reminderType === "ONCE") return first >= from ? first : null;
  const interval = date.reminderEnabled && date.reminderInterval ? date.reminderInterval : 1;
  const unit = date.reminderEnabled && date.reminderIntervalUnit ? date.reminderIntervalUnit : "YEARS";
  if (first >= from) return first;
  if (unit === "DAYS" || unit === "WEEKS") {
    const step = interval * (unit === "WEEKS" ? 7 : 1);
    const passed = Math.ceil((Date.parse(from) - Date.parse(first)) / 86_400_000 / step);
    return addDays(first, passed * step);
  }
  const months = interval * (unit === "YEARS" ? 12 : 1);
  const [year, month] = first.split("-").map(Number) as [number, number];
  const [fromYear, fromMonth] = from.split("-").map(Number) as [number, number];
  // Always counted from the date itself, so that the 31st comes back after a shorter month.
  let count = Math.max(0, Math.floor(((fromYear - year) * 12 + fromMonth - month) / months) - 1);
  for (;;) {
    const day = addMonths(first, count * months, leapDayRule);
    if (day >= from) return day;
    count++;
  }
}

// How many years it is on that day; null in the year itself, and if the year is unknown.
export function yearsOn({ date, yearUnknown }: ImportantDate, day: Day): number | null {
  const years = Number(day.slice(0, 4)) - Number(date.slice(0, 4));
  return yearUnknown || years <= 0 ? null : years;
}

// "turns 49" for a birthday, else "11 years".
export function yearsInWords(date: ImportantDate, day: Day): string | null {
  const years = yearsOn(date, day);
  if (years === null) return null;
  return date.type === "BIRTHDAY" ? tn("turns {count}", "turns {count}", years) : tn("{count} year", "{count} years", years);
}

// What will be sent, in a sentence.
export function reminderInWords(date: Pick<ImportantDate, "reminderEnabled" | "reminderLeadDays">, defaultLeadDays: number): string {
  if (!date.reminderEnabled) return t("No reminder");
  const lead = date.reminderLeadDays ?? defaultLeadDays;
  return lead > 0 ? t("Reminder on the day, and {days} days before", { days: lead }) : t("Reminder on the day");
}

// The day itself, without a year that is not known.
export function dateInWords({ date, yearUnknown }: Pick<ImportantDate, "date" | "yearUnknown">): string {
  return dayInWords(date, { day: "numeric", month: "long", ...(!yearUnknown && { year: "numeric" }) });
}

// A year, a month or a day: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
export function partlyKnownDay(text: string): string {
  if (text.length < 7) return text;
  return dayInWords(text.length === 7 ? `${text}-01` : text, { month: "long", year: "numeric", ...(text.length > 7 && { day: "numeric" }) });
}
