// Why it is time to get in touch with somebody, in words.
import { type Day, daysBetween } from "../../i18n/days.ts";
import { language, t } from "../../i18n/index.ts";
import type { Person } from "../person/entries.ts";
import { intervalLabel } from "../people/intervals.ts";

// "5 months · you want every three months"; where there is little room "5 months · every three months".
export function reasonInWords({ lastContact, contactReminderInterval, contactReminderIntervalUnit }: Person, now: Day, isShort = false): string {
  const label = intervalLabel(contactReminderInterval ?? 1, contactReminderIntervalUnit ?? "MONTHS");
  const interval = label[0]!.toLocaleLowerCase(language.value) + label.slice(1);
  if (!lastContact) return isShort ? t("Not yet in touch · {interval}", { interval }) : t("Not yet in touch · you want {interval}", { interval });
  const passed = passedInWords(daysBetween(lastContact.slice(0, 10), now));
  return isShort ? t("{passed} · {interval}", { passed, interval }) : t("{passed} · you want {interval}", { passed, interval });
}

// "3 days", "7 weeks", "5 months", "2 years".
function passedInWords(days: number): string {
  const [count, unit] =
    days < 14 ? [days, "day"] : days < 62 ? [Math.floor(days / 7), "week"] : days < 730 ? [Math.floor(days / 30.44), "month"] : [Math.floor(days / 365.25), "year"];
  return new Intl.NumberFormat(language.value, { style: "unit", unit: unit as string, unitDisplay: "long" }).format(count as number);
}
