// When the account is told: hour, advance notice, quiet hours, the weekly letter.
import { useAccount } from "../../app/session.ts";
import { addDays, dayInWords, firstDayOfWeek, hourInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { ChoiceLine, Line, Section, SwitchLine, useChange } from "../settings/rows.tsx";

const QUIET = { from: "22:00", to: "07:00" };

export function Times() {
  const user = useAccount().settings.value;
  const quiet = user.quietHours;
  const [problem, change] = useChange();
  const setQuiet = (wanted: { from: string; to: string } | null) => change("quiet-hours", wanted ?? { from: null, to: null }, quiet ?? { from: null, to: null });
  const digest = (enabled: boolean, weekday: number) => change("weekly-digest", { enabled, weekday }, { enabled: user.weeklyDigestEnabled, weekday: user.weeklyDigestWeekday });
  const leads = [...new Set([0, 1, 3, 7, 14, 30, user.defaultReminderLeadDays])].sort((one, other) => one - other);
  const zone = (user.timezone ?? "UTC").replaceAll("_", " ");
  return (
    <Section title={t("When you are told")}>
      <ProblemNote problem={problem} />
      <div class="card flush">
        <ChoiceLine
          label={t("Hour of reminders")}
          hint={t("On the day itself. Time zone: {zone}", { zone })}
          value={String(user.reminderHour)}
          options={Array.from({ length: 24 }, (_, hour) => [String(hour), hourInWords(hour)] as const)}
          onValue={(hour) => change("reminder-hour", { hour: Number(hour) }, { hour: user.reminderHour })}
        />
        <ChoiceLine
          label={t("And before it")}
          hint={t("Time to find a present")}
          value={String(user.defaultReminderLeadDays)}
          options={leads.map((days) => [String(days), days ? t("{days} days before, too", { days }) : t("Only on the day")] as const)}
          onValue={(days) => change("reminder-lead-days", { days: Number(days) }, { days: user.defaultReminderLeadDays })}
        />
        <SwitchLine
          label={t("Quiet hours")}
          hint={quiet ? t("What comes between {from} and {to} is sent at {to}.", { from: quiet.from, to: quiet.to }) : t("There are none: everything is sent at its time.")}
          isOn={quiet !== null && quiet !== undefined}
          onChange={(isOn) => setQuiet(isOn ? QUIET : null)}
        />
        {quiet && (
          <>
            <Line label={t("Quiet from")}>{(ids) => <input {...ids} type="time" required value={quiet.from} onChange={({ currentTarget: { value } }) => value && void setQuiet({ ...quiet, from: value })} />}</Line>
            <Line label={t("Quiet until")}>{(ids) => <input {...ids} type="time" required value={quiet.to} onChange={({ currentTarget: { value } }) => value && void setQuiet({ ...quiet, to: value })} />}</Line>
          </>
        )}
        <SwitchLine label={t("Weekly letter")} hint={t("Everything of the coming week in one mail")} isOn={Boolean(user.weeklyDigestEnabled)} onChange={(enabled) => digest(enabled, user.weeklyDigestWeekday)} />
        {user.weeklyDigestEnabled && <ChoiceLine label={t("On which day")} value={String(user.weeklyDigestWeekday)} options={weekdays()} onValue={(day) => digest(true, Number(day))} />}
        <ChoiceLine
          label={t("Reminders of dates that arrive from elsewhere")}
          value={user.dateReminderDefault}
          options={[["birthdays", t("Birthday")], ["all", t("Dates")], ["none", t("No reminder")]]}
          onValue={(dateReminderDefault) => change("date-reminder-default", { dateReminderDefault }, { dateReminderDefault: user.dateReminderDefault })}
        />
      </div>
    </Section>
  );
}

const A_SUNDAY = "2023-01-01";

// In the order of the browser's week; 0 is Sunday.
function weekdays(): (readonly [string, string])[] {
  return Array.from({ length: 7 }, (_, index) => {
    const weekday = (firstDayOfWeek() + index) % 7;
    return [String(weekday), dayInWords(addDays(A_SUNDAY, weekday), { weekday: "long" })] as const;
  });
}
