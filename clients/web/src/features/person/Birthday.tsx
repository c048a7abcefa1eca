// A birthday in a form: day, month, and the year if it is known.
import type { Copy } from "contacts-client";
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { dayInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { SelectField, TextField } from "../../ui/Field.tsx";
import type { ImportantDate } from "./dates.ts";

const UNKNOWN_YEAR = "1604"; // as in the contract: a leap year

export interface Birthday {
  day: string;
  month: string; // "1" to "12"
  year: string; // empty if it is unknown
}

export function noBirthday(): Birthday {
  return { day: "", month: "", year: "" };
}

export function pickBirthday({ date, yearUnknown }: ImportantDate): Birthday {
  const [year, month, day] = date.slice(0, 10).split("-").map(Number) as [number, number, number];
  return { day: String(day), month: String(month), year: yearUnknown ? "" : String(year) };
}

// The day that it means, and whether its year is unknown; null if there is no such day.
export function birthdayOf({ day, month, year }: Birthday): { date: string; yearUnknown: boolean } | null {
  const digits = (text: string) => text.normalize("NFKC").trim();
  if (!/^\d{1,2}$/.test(digits(day)) || !month || !/^(\d{4})?$/.test(digits(year))) return null;
  const date = `${digits(year) || UNKNOWN_YEAR}-${month.padStart(2, "0")}-${digits(day).padStart(2, "0")}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) return null;
  return { date, yearUnknown: !digits(year) };
}

export function isEmptyBirthday({ day, month, year }: Birthday): boolean {
  return !day.trim() && !month && !year.trim();
}

// Makes, changes or deletes the birthday of a person. What is no day changes nothing.
export async function saveBirthday(copy: Copy, personId: string, known: ImportantDate | null, typed: Birthday): Promise<void> {
  const found = birthdayOf(typed);
  if (isEmptyBirthday(typed) && known) await copy.delete("importantDate", known.id);
  else if (found && known) await copy.update("importantDate", known.id, found);
  else if (found) await copy.create("importantDate", { personId, type: "BIRTHDAY", reminderEnabled: true, ...found });
}

interface Props {
  value: Birthday;
  onPart: (part: Partial<Birthday>) => void; // what was typed of it; the rest may be newer than `value`
  error?: string | undefined;
}

export function BirthdayFields({ value, onPart, error }: Props) {
  const { settings } = useAccount();
  // As it is when the form opens: settings that arrive later would move the field that somebody types in.
  const [format] = useState(settings.peek().dateFormat);
  const months = Array.from({ length: 12 }, (_, index) => [String(index + 1), dayInWords(`2024-${String(index + 1).padStart(2, "0")}-01`, { month: "long" })] as const);
  const day = <TextField key="day" label={t("Day")} inputMode="numeric" autocomplete="off" maxLength={2} value={value.day} error={error} onValue={(day) => onPart({ day })} />;
  const month = <SelectField key="month" label={t("Month")} value={value.month} options={[["", "–"], ...months]} onValue={(month) => onPart({ month })} />;
  const year = <TextField key="year" label={t("Year, if known")} inputMode="numeric" autocomplete="off" maxLength={4} value={value.year} onValue={(year) => onPart({ year })} />;
  const order = { DMY: [day, month, year], MDY: [month, day, year], YMD: [year, month, day] }[format] ?? [day, month, year];
  return (
    <fieldset class="birthday">
      <legend>{t("Birthday")}</legend>
      {order}
    </fieldset>
  );
}
