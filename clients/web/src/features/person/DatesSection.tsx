// The important dates of a person, with what will come when in words.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { dayInWords, daysBetween, daysFromNow, formatDay, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useRecordsOf } from "../../store/records.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { DateDialog } from "./DateDialog.tsx";
import { type ImportantDate, nextOccurrence, occasion, reminderInWords, yearsInWords } from "./dates.ts";
import type { Person } from "./entries.ts";

export function DatesSection({ person, name }: { person: Person; name: string }) {
  const account = useAccount();
  const settings = account.settings.value;
  const [edited, setEdited] = useState<ImportantDate | "new" | null>(null);
  const now = today(settings.timezone);
  const dates = (useRecordsOf("importantDate", person.id).value ?? [])
    .map((date) => ({ date, next: nextOccurrence(date, now, settings.leapDayRule) }))
    .sort((one, other) => ((one.next ?? "9999") < (other.next ?? "9999") ? -1 : 1));
  const remove = (date: ImportantDate) => {
    void account.copy.delete("importantDate", date.id);
    toast(t("The date is in the trash."), () => account.copy.restore("importantDate", date.id, date));
  };
  return (
    <section class="card stack tight" aria-label={t("Dates")}>
      <div class="row apart">
        <h2>{t("Dates")}</h2>
        <button class="plain icon no-print" onClick={() => setEdited("new")} aria-label={t("Add a date of {name}", { name })}>
          <Icon name="add" />
        </button>
      </div>
      {dates.length > 0 && (
        <ul class="lines">
          {dates.map(({ date, next }) => {
            const years = next ? yearsInWords(date, next) : null;
            const isOver = date.type === "BIRTHDAY" && person.deathday;
            return (
              <li key={date.id} class="row apart">
                <span>
                  <strong>{occasion(date)}</strong> {formatDay(date.date, settings.dateFormat, date.yearUnknown)}
                  {next && (
                    <span class="soft small block">
                      {[dayInWords(next, { weekday: "long", day: "numeric", month: "long" }), daysFromNow(daysBetween(now, next)), !isOver && years].filter(Boolean).join(" · ")}
                    </span>
                  )}
                  <span class="soft small block">{reminderInWords(date, settings.defaultReminderLeadDays)}</span>
                </span>
                <Menu
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
      )}
      {edited && <DateDialog personId={person.id} name={name} date={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
    </section>
  );
}
