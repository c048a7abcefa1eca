// Adds or changes an important date.
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRecord, useRecordsOf } from "../../store/records.ts";
import { saveEdit } from "../../store/save.ts";
import { Check, SelectField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { SaveDialog } from "../../ui/SaveDialog.tsx";
import { type ImportantDate, reminderInWords } from "./dates.ts";

interface Props {
  personId: string;
  name: string;
  date: ImportantDate | null;
  day?: string; // of a new date
  makeOwner?: () => Promise<string>; // of somebody who is made with the date
  onClose: () => void;
}

interface Values {
  type: string; // "" for a date with a title
  title: string;
  day: string;
  yearUnknown: boolean;
  reminderEnabled: boolean;
  lead: string; // "" for the account's
}

export function DateDialog({ personId, name, date, day = "", makeOwner, onClose }: Props) {
  const { copy, id: accountId, settings } = useAccount();
  const form = useForm<Values>(`${accountId} date ${date?.id ?? `new ${personId}`}`, () => ({
    type: date ? (date.type ?? "") : "BIRTHDAY",
    title: date?.title ?? "",
    day: date?.date.slice(0, 10) ?? day,
    yearUnknown: date?.yearUnknown ?? false,
    reminderEnabled: date?.reminderEnabled ?? true,
    lead: date?.reminderLeadDays === null || date === null ? "" : String(date.reminderLeadDays),
  }), date);
  // A person has one date of each kind, and any number of others.
  const others = (useRecordsOf("importantDate", personId).value ?? []).filter(({ id }) => id !== date?.id);
  const isTaken = (type: string) => type !== "" && others.some((other) => other.type === type);
  const typed = form.values.value;
  const values = date === null && isTaken(typed.type) ? { ...typed, type: "" } : typed;
  const now = useRecord("importantDate", date?.id ?? "").value;
  const save = async () => {
    if (date) await saveEdit(copy, "importantDate", date, form.edit(toRecord));
    else await copy.create("importantDate", { personId: (await makeOwner?.()) ?? personId, ...toRecord(values) });
  };
  const leads = [...new Set(["0", "1", "3", "7", "14", "30", values.lead])].filter(Boolean).sort((one, other) => Number(one) - Number(other));
  return (
    <SaveDialog
      title={date ? t("A date of {name}", { name }) : t("New date of {name}", { name })}
      form={form}
      isReady={values.day !== "" && (values.type !== "" || values.title.trim() !== "")}
      isGone={date !== null && now === null}
      onSave={save}
      onClose={onClose}
    >
      <SelectField
        label={t("Kind")}
        value={values.type}
        onValue={(type) => form.set("type", type)}
        options={[
          ["BIRTHDAY", t("Birthday")],
          ["ANNIVERSARY", t("Anniversary")],
          ["NAMEDAY", t("Name day")],
          ["MEMORIAL", t("Memorial day")],
          ["", t("Another date")],
        ].filter(([type]) => type === values.type || !isTaken(type!)) as [string, string][]}
      />
      {!values.type && <TextField label={t("Title")} required maxLength={100} value={values.title} onValue={(title) => form.set("title", title)} />}
      <TextField label={t("Day")} type="date" required value={values.day} onValue={(day) => form.set("day", day)} hint={values.yearUnknown ? t("The year is not kept.") : undefined} />
      <Check label={t("I do not know the year")} isChecked={values.yearUnknown} onChange={(yearUnknown) => form.set("yearUnknown", yearUnknown)} />
      <Check label={t("Remind me")} isChecked={values.reminderEnabled} onChange={(reminderEnabled) => form.set("reminderEnabled", reminderEnabled)} />
      {values.reminderEnabled && (
        <SelectField
          label={t("How long before")}
          value={values.lead}
          onValue={(lead) => form.set("lead", lead)}
          options={[
            ["", t("As in your preferences")],
            ...leads.map((days) => [days, leadInWords(days)] as const),
          ]}
        />
      )}
      <p class="soft small">{reminderInWords({ reminderEnabled: values.reminderEnabled, reminderLeadDays: values.lead === "" ? null : Number(values.lead) }, settings.value.defaultReminderLeadDays)}</p>
    </SaveDialog>
  );
}

function toRecord({ type, title, day, yearUnknown, reminderEnabled, lead }: Values) {
  return {
    type: (type || null) as "BIRTHDAY" | null,
    title: type ? null : title.trim(),
    date: day,
    yearUnknown,
    reminderEnabled,
    reminderLeadDays: reminderEnabled && lead !== "" ? Number(lead) : null,
  };
}

function leadInWords(days: string): string {
  const known: Record<string, string> = { 0: t("Only on the day"), 1: t("1 day before, too"), 7: t("1 week before, too"), 14: t("2 weeks before, too") };
  return known[days] ?? t("{days} days before, too", { days });
}
