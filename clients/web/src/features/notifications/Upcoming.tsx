// What will be sent, with a switch for each reminder that is off.
import type { components } from "contacts-client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { clockInWords, dayOf, daysBetween, nearDayInWords, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { useRemote } from "../../store/remote.ts";
import { Icon } from "../../ui/Icon.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { MissingReminders } from "../dates/Bell.tsx";
import { Leaf } from "../dates/Leaf.tsx";
import { Section } from "../settings/rows.tsx";
import { channelInWords, noticeInWords, reasonInWords } from "./words.ts";

type Schemas = components["schemas"];

const SHOWN = 6; // before the others are asked for
const NEAR_DAYS = 7;

export function Upcoming() {
  const { settings, copy, pending } = useAccount();
  const { timezone } = settings.value;
  const now = today(timezone);
  const [isWhole, setWhole] = useState(false);
  const sentInWords = (sendAt: string) => `${nearDayInWords(dayOf(sendAt, timezone), now)} ${clockInWords(new Date(sendAt), timezone)}`;
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
        {data?.slice(0, isWhole ? data.length : SHOWN).map((reminder) => {
          const name = noticeInWords(reminder);
          const date = reminder.importantDateId ? byId.get(reminder.importantDateId) : undefined;
          const isOff = date && !date.reminderEnabled;
          return (
            <div class="setting upcoming" key={`${reminder.kind} ${reminder.importantDateId ?? reminder.personId} ${reminder.date}`}>
              <Leaf day={reminder.date} tone={reminder.kind === "reminder.contact" ? "touch" : daysBetween(now, reminder.date) < NEAR_DAYS ? "" : "far"} />
              <span class="setting-text">
                <bdi class="setting-label">{name}</bdi>
                <span class="soft small capital">
                  {isOff ? t("No reminder") : [reminder.willSend && reminder.sendAt ? sentInWords(reminder.sendAt) : [t("It is not sent."), reasonInWords(reminder.reason)].filter(Boolean).join(" "), ...reminder.destinations.map((each) => `${each.label || channelInWords(each.channel)}${each.willSend ? "" : `: ${reasonInWords(each.reason)}`}`)].join(" · ")}
                </span>
              </span>
              {date && (isOff || reminder.reason === "reminder_off") && <input type="checkbox" role="switch" class="switch" aria-label={t("Reminder: {what}", { what: name })} checked={date.reminderEnabled} onChange={({ currentTarget }) => void remind(date.id, currentTarget.checked)} />}
            </div>
          );
        })}
        {data && data.length > SHOWN && !isWhole && (
          <button class="setting" onClick={() => setWhole(true)}>
            <span class="setting-text"><span class="setting-label">{t("Show all {count}", { count: data.length })}</span></span>
            <Icon name="down" />
          </button>
        )}
      </div>
    </Section>
  );
}
