// The important dates of a person, with what will come when in words.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { dayInWords, daysBetween, daysFromNow, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useRecordsOf } from "../../store/records.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { Lock } from "../sharing/Lock.tsx";
import { DateDialog } from "./DateDialog.tsx";
import { dateInWords, type ImportantDate, nextOccurrence, occasion, reminderInWords, yearsInWords } from "./dates.ts";
import type { Person } from "./entries.ts";
import { SectionHead } from "./SectionHead.tsx";

const NEAR_DAYS = 7;

// Only what the bell does not say: that it comes before the day, too.
function leadInWords(date: ImportantDate, defaultLeadDays: number): string | false {
  return date.reminderEnabled && (date.reminderLeadDays ?? defaultLeadDays) > 0 && reminderInWords(date, defaultLeadDays);
}

export function DatesSection({ person, name, isAdding, onAdding }: { person: Person; name: string; isAdding: boolean; onAdding: (isAdding: boolean) => void }) {
  const account = useAccount();
  const settings = account.settings.value;
  const [edited, setEdited] = useState<ImportantDate | null>(null);
  const now = today(settings.timezone);
  const dates = (useRecordsOf("importantDate", person.id).value ?? [])
    .map((date) => ({ date, next: nextOccurrence(date, now, settings.leapDayRule) }))
    .sort((one, other) => ((one.next ?? "9999") < (other.next ?? "9999") ? -1 : 1));
  const remove = (date: ImportantDate) => {
    void account.copy.delete("importantDate", date.id);
    toast(t("The date is in the trash."), () => account.copy.restore("importantDate", date.id, date));
  };
  const remind = (date: ImportantDate, reminderEnabled: boolean) => {
    void account.copy.update("importantDate", date.id, { reminderEnabled });
    toast(reminderEnabled ? t("Its reminder is on.") : t("Its reminder is off."), () => account.copy.update("importantDate", date.id, { reminderEnabled: !reminderEnabled }));
  };
  return (
    <>
      {dates.length > 0 && (
        <section class="section" id="person-dates" aria-label={t("Dates")}>
          <SectionHead title={t("Dates")} letter="d">
            <Lock person={person} field="importantDates" />
            <button class="plain icon no-print" onClick={() => onAdding(true)} aria-label={t("Add a date of {name}", { name })}>
              <Icon name="add" />
            </button>
          </SectionHead>
          <ul class="card lines dates">
            {dates.map(({ date, next }) => {
              const isOver = date.type === "BIRTHDAY" && person.deathday;
              const [day, month] = [date.date.slice(8, 10), dayInWords(date.date, { month: "short" })];
              const when = next && [daysFromNow(daysBetween(now, next)), !isOver && yearsInWords(date, next)];
              return (
                <li key={date.id}>
                  <span class={`date-leaf ${next && daysBetween(now, next) <= NEAR_DAYS ? "near" : ""}`} aria-hidden="true">
                    <b>{Number(day)}</b>
                    <span>{month}</span>
                  </span>
                  <span class="grow">
                    <strong>
                      <bdi>{occasion(date)}</bdi>
                    </strong>
                    <span class="soft small block">{(when || []).filter(Boolean).join(" · ") || null}</span>
                    <span class="soft small block">{[dateInWords(date), leadInWords(date, settings.defaultReminderLeadDays)].filter(Boolean).join(" · ")}</span>
                  </span>
                  <button
                    class={`plain icon no-print bell ${date.reminderEnabled ? "on" : ""}`}
                    role="switch"
                    aria-checked={date.reminderEnabled}
                    aria-label={t("Reminder of: {occasion} of {name}", { occasion: occasion(date), name })}
                    onClick={() => remind(date, !date.reminderEnabled)}
                  >
                    <Icon name="bell" />
                  </button>
                  <Menu
                    class="plain icon no-print"
                    label={t("{occasion} of {name}", { occasion: occasion(date), name })}
                    items={[
                      { label: t("Edit"), onSelect: () => setEdited(date) },
                      { label: t("Delete"), isDanger: true, onSelect: () => remove(date) },
                    ]}
                  >
                    <Icon name="more" />
                  </Menu>
                </li>
              );
            })}
          </ul>
        </section>
      )}
      {isAdding && <DateDialog personId={person.id} name={name} date={null} onClose={() => onAdding(false)} />}
      {edited && <DateDialog personId={person.id} name={name} date={edited} onClose={() => setEdited(null)} />}
    </>
  );
}
