// The preferences of the account, and of this browser.
import { useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { setTheme, theme } from "../../app/theme.ts";
import { type Language, LANGUAGES, setLanguage, t } from "../../i18n/index.ts";
import { addDays, dayInWords, firstDayOfWeek, formatDay, hourInWords } from "../../i18n/days.ts";
import { Check, SelectField } from "../../ui/Field.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";

const A_SUNDAY = "2023-01-01";

export default function PreferencesPage() {
  const account = useAccount();
  const user = account.settings.value;
  const [problem, setProblem] = useState<Problem | null>(null);
  const put = async (path: string, body: object) => {
    setProblem(null);
    try {
      await connection.ask("PUT", `/api/user/${path}`, body);
      account.syncer.syncNow();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const zones = [...new Set([user.timezone ?? "UTC", ...Intl.supportedValuesOf("timeZone")])].sort();
  // In the order of the browser's week; 0 is Sunday.
  const weekdays = Array.from({ length: 7 }, (_, index) => {
    const weekday = (firstDayOfWeek() + index) % 7;
    return [String(weekday), dayInWords(addDays(A_SUNDAY, weekday), { weekday: "long" })] as const;
  });
  return (
    <Page title={t("Preferences")} back="/account">
      <ProblemNote problem={problem} />
      <section class="card stack" aria-label={t("Appearance")}>
        <SelectField
          label={t("Language")}
          value={user.language}
          options={Object.entries(LANGUAGES)}
          onValue={(language) => {
            void setLanguage(language as Language);
            void put("language", { language });
          }}
        />
        <SelectField
          label={t("Colours")}
          value={theme.value === "system" ? "system" : user.theme}
          options={[["system", t("As the system")], ["LIGHT", t("Light")], ["DARK", t("Dark")]]}
          onValue={(value) => {
            setTheme(value === "system" ? "system" : "account");
            if (value !== "system") void put("theme", { theme: value });
          }}
          hint={t("\"As the system\" holds for this browser alone.")}
        />
      </section>
      <section class="card stack" aria-label={t("Names and dates")}>
        <SelectField label={t("Order of names")} value={user.nameOrder} options={[["WESTERN", t("Given name first")], ["EASTERN", t("Surname first")]]} onValue={(nameOrder) => void put("name-order", { nameOrder })} />
        <SelectField
          label={t("Order of the list")}
          value={user.nameSort}
          options={[["GIVEN", t("Given name")], ["SURNAME", t("Surname")], ["SHOWN", t("Name")]]}
          onValue={(nameSort) => void put("name-sort", { nameSort })}
        />
        <SelectField
          label={t("How names are shown")}
          value={user.nameDisplayFormat}
          options={[["FULL", t("In full")], ["NICKNAME_PREFERRED", t("Nickname and surname")], ["SHORT", t("Nickname or given name")]]}
          onValue={(nameDisplayFormat) => void put("name-display-format", { nameDisplayFormat })}
        />
        <SelectField label={t("How dates are written")} value={user.dateFormat} options={(["YMD", "DMY", "MDY"] as const).map((format) => [format, formatDay("2026-12-31", format)])} onValue={(dateFormat) => void put("date-format", { dateFormat })} />
        <SelectField label={t("Time zone")} value={user.timezone ?? "UTC"} options={zones.map((zone) => [zone, zone.replaceAll("_", " ")] as const)} onValue={(timezone) => void put("timezone", { timezone })} />
        <SelectField label={t("29 February in other years")} value={user.leapDayRule} options={[["FEB28", t("On 28 February")], ["MAR1", t("On 1 March")]]} onValue={(leapDayRule) => void put("leap-day-rule", { leapDayRule })} />
      </section>
      <section class="card stack" aria-label={t("Reminders")}>
        <SelectField label={t("Hour of reminders")} value={String(user.reminderHour)} options={Array.from({ length: 24 }, (_, hour) => [String(hour), hourInWords(hour)] as const)} onValue={(hour) => void put("reminder-hour", { hour: Number(hour) })} />
        <SelectField
          label={t("Advance notice of dates")}
          value={String(user.defaultReminderLeadDays)}
          options={[...new Set([0, 1, 3, 7, 14, 30, user.defaultReminderLeadDays])].sort((one, other) => one - other).map((days) => [String(days), days ? t("{days} days before, too", { days }) : t("Only on the day")] as const)}
          onValue={(days) => void put("reminder-lead-days", { days: Number(days) })}
        />
        <SelectField
          label={t("Reminders of dates that arrive from elsewhere")}
          value={user.dateReminderDefault}
          options={[["birthdays", t("Birthday")], ["all", t("Dates")], ["none", t("No reminder")]]}
          onValue={(dateReminderDefault) => void put("date-reminder-default", { dateReminderDefault })}
        />
        <Check label={t("A mail with what comes in the week")} isChecked={user.weeklyDigestEnabled} onChange={(enabled) => void put("weekly-digest", { enabled, weekday: user.weeklyDigestWeekday })} />
        {user.weeklyDigestEnabled && (
          <SelectField label={t("On which day")} value={String(user.weeklyDigestWeekday)} options={weekdays} onValue={(day) => void put("weekly-digest", { enabled: true, weekday: Number(day) })} />
        )}
      </section>
      <section class="card stack" aria-label={t("Map")}>
        <Check label={t("Look up where addresses are; they are sent to the operator's map service for that")} isChecked={user.geocodingEnabled} onChange={(geocodingEnabled) => void put("geocoding", { geocodingEnabled })} />
      </section>
    </Page>
  );
}
