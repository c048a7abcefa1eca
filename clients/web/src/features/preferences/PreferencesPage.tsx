// Look and language: what holds for the account, and the colours of this browser.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { setTheme, theme } from "../../app/theme.ts";
import { formatDay } from "../../i18n/days.ts";
import { type Language, LANGUAGES, setLanguage, t } from "../../i18n/index.ts";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { messagesAreLong, setMessagesLong } from "../../ui/toast.tsx";
import { ChoiceLine, Section, SwitchLine, useChange } from "../settings/rows.tsx";

export default function PreferencesPage() {
  const user = useAccount().settings.value;
  const [problem, change] = useChange();
  const zones = [...new Set([user.timezone ?? "UTC", ...Intl.supportedValuesOf("timeZone")])].sort();
  const [isLong, setLong] = useState(messagesAreLong);
  const colours = theme.value === "system" ? "system" : user.theme;
  const showColours = (value: string) => setTheme(value === "system" ? "system" : "account");
  return (
    <Page title={t("Look and language")} back="/settings" width="form">
      <div class="stack settings">
        <ProblemNote problem={problem} />
        <Section title={t("Appearance")}>
          <div class="card flush">
            <ChoiceLine
              label={t("Language")}
              value={user.language}
              options={Object.entries(LANGUAGES)}
              onValue={(language) => change("language", { language }, { language: user.language }, (isUndo) => setLanguage((isUndo ? user.language : language) as Language))}
            />
            <ChoiceLine
              label={t("Colours")}
              hint={t("\"As the system\" holds for this browser alone.")}
              value={colours}
              options={[["system", t("As the system")], ["LIGHT", t("Light")], ["DARK", t("Dark")]]}
              onValue={(value) => {
                if (value === "system") showColours(value);
                else return change("theme", { theme: value }, { theme: user.theme }, (isUndo) => showColours(isUndo ? colours : value));
              }}
            />
            <SwitchLine
              label={t("Messages stay for two minutes")}
              hint={t("Instead of ten seconds, in this browser alone. So there is longer for an undo.")}
              isOn={isLong}
              onChange={(wanted) => {
                setMessagesLong(wanted);
                setLong(wanted);
              }}
            />
          </div>
        </Section>
        <Section title={t("Names and dates")}>
          <div class="card flush">
            <ChoiceLine label={t("Order of names")} value={user.nameOrder} options={[["WESTERN", t("Given name first")], ["EASTERN", t("Surname first")]]} onValue={(nameOrder) => change("name-order", { nameOrder }, { nameOrder: user.nameOrder })} />
            <ChoiceLine label={t("Order of the list")} value={user.nameSort} options={[["GIVEN", t("Given name")], ["SURNAME", t("Surname")], ["SHOWN", t("Name")]]} onValue={(nameSort) => change("name-sort", { nameSort }, { nameSort: user.nameSort })} />
            <ChoiceLine
              label={t("How names are shown")}
              value={user.nameDisplayFormat}
              options={[["FULL", t("In full")], ["NICKNAME_PREFERRED", t("Nickname and surname")], ["SHORT", t("Nickname or given name")]]}
              onValue={(nameDisplayFormat) => change("name-display-format", { nameDisplayFormat }, { nameDisplayFormat: user.nameDisplayFormat })}
            />
            <ChoiceLine label={t("How dates are written")} value={user.dateFormat} options={(["YMD", "DMY", "MDY"] as const).map((format) => [format, formatDay("2026-12-31", format)])} onValue={(dateFormat) => change("date-format", { dateFormat }, { dateFormat: user.dateFormat })} />
            <ChoiceLine label={t("Time zone")} value={user.timezone ?? "UTC"} options={zones.map((zone) => [zone, zone.replaceAll("_", " ")] as const)} onValue={(timezone) => change("timezone", { timezone }, { timezone: user.timezone })} />
            <ChoiceLine label={t("29 February in other years")} value={user.leapDayRule} options={[["FEB28", t("On 28 February")], ["MAR1", t("On 1 March")]]} onValue={(leapDayRule) => change("leap-day-rule", { leapDayRule }, { leapDayRule: user.leapDayRule })} />
          </div>
        </Section>
        <Section title={t("Map")}>
          <div class="card flush">
            <SwitchLine
              label={t("Look up where addresses are")}
              hint={t("They are sent to the operator's map service for that.")}
              isOn={user.geocodingEnabled}
              onChange={(geocodingEnabled) => change("geocoding", { geocodingEnabled }, { geocodingEnabled: user.geocodingEnabled })}
            />
          </div>
        </Section>
      </div>
    </Page>
  );
}
