// What will be sent, with a switch for each reminder that is off.
import type { components } from "contacts-client";
import { useEffect, useMemo } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { clockInWords, type Day, dayOf, nearDayInWords, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { useRemote } from "../../store/remote.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { MissingReminders } from "../dates/Bell.tsx";
import { Section } from "../settings/rows.tsx";
import { channelInWords, noticeInWords, reasonInWords } from "./words.ts";

type Schemas = components["schemas"];

export function Upcoming() {
  const { settings, copy, pending } = useAccount();
  const { timezone } = settings.value;
  const now = today(timezone);
  // On the day itself the hour alone, before it with its day.
  const sentInWords = (sendAt: string, day: Day) => [dayOf(sendAt, timezone) !== day && nearDayInWords(dayOf(sendAt, timezone), now), clockInWords(new Date(sendAt), timezone)].filter(Boolean).join(" ");
  const [found, reload] = useRemote("upcoming reminders", async (signal) => (await connection.ask("GET", "/api/reminders/upcoming?days=30&limit=50", undefined, { signal }))["reminders"] as Schemas["UpcomingReminder"][]);
  const dates = useAll("importantDate");
  const { data, problem } = found.value;
  const byId = useMemo(() => new Map(dates.value?.map((date) => [date.id, date])), [dates.value]);
  // What the service would send is read again when it knows of the switch.
  const isSent = pending.value.length === 0;
  useEffect(() => void (isSent && data && reload()), [isSent]);
  const remind = async (id: string, reminderEnabled: boolean) => {
    await copy.update("importantDate", id, { reminderEnabled });
    toast(t("Saved"), () => copy.update("importantDate", id, { reminderEnabled: !reminderEnabled }));
  };
  return (
    <Section title={t("What comes next")}>
      <ProblemNote problem={problem} />
      {dates.value && <MissingReminders dates={dates.value} />}
      <div class="card flush">
        {data?.length === 0 && <p class="setting-note soft">{t("Nothing.")}</p>}
        {data?.map((reminder) => {
          const name = noticeInWords(reminder);
          const date = reminder.importantDateId ? byId.get(reminder.importantDateId) : undefined;
          const isOff = date && !date.reminderEnabled;
          return (
            <div class="setting" key={`${reminder.kind} ${reminder.importantDateId ?? reminder.personId} ${reminder.date}`}>
              <span class="setting-text">
                <bdi class="setting-label">{name}</bdi>
                <span class="soft small capital">
                  {[nearDayInWords(reminder.date, now), isOff ? t("No reminder") : [reminder.willSend && reminder.sendAt ? sentInWords(reminder.sendAt, reminder.date) : t("It is not sent."), reasonInWords(reminder.reason), ...reminder.destinations.map((each) => `${each.label || channelInWords(each.channel)}${each.willSend ? "" : `: ${reasonInWords(each.reason)}`}`)].filter(Boolean).join(" · ")].join(" · ")}
                </span>
              </span>
              {date && (isOff || reminder.reason === "reminder_off") && <input type="checkbox" role="switch" class="switch" aria-label={t("Reminder: {what}", { what: name })} checked={date.reminderEnabled} onChange={({ currentTarget }) => void remind(date.id, currentTarget.checked)} />}
            </div>
          );
        })}
      </div>
    </Section>
  );
}
