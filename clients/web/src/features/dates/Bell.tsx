// The reminder of a date as a switch, and one for all birthdays that have none.
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { Icon } from "../../ui/Icon.tsx";
import { toast } from "../../ui/toast.tsx";
import type { ImportantDate } from "../person/dates.ts";
import type { Occurrence } from "./occurrences.ts";

// The dates of an occurrence: that of a couple has two.
export const remindersOf = ({ date, with: other }: Occurrence) => [date, other?.date].filter((each) => each != null);

export const isReminded = (dates: readonly ImportantDate[]) => dates.some(({ reminderEnabled }) => reminderEnabled);

export function switchReminders({ copy }: Pick<Account, "copy">, dates: readonly ImportantDate[]): void {
  const reminderEnabled = !isReminded(dates);
  for (const { id } of dates) void copy.update("importantDate", id, { reminderEnabled });
}

export function Bell({ dates, what }: { dates: readonly ImportantDate[]; what: string }) {
  const account = useAccount();
  const isOn = isReminded(dates);
  return (
    <button
      class={`icon no-print ${isOn ? "tint" : "plain"}`}
      role="switch"
      aria-checked={isOn}
      aria-label={t("Reminder: {what}", { what })}
      onClick={() => switchReminders(account, dates)}
    >
      <Icon name="bell" />
    </button>
  );
}

// Birthdays of people who have reminders at all: neither quiet nor dead.
export function birthdaysWithoutReminder(dates: readonly ImportantDate[], isReminded: (personId: string) => boolean): ImportantDate[] {
  return dates.filter((date) => date.type === "BIRTHDAY" && !date.reminderEnabled && isReminded(date.personId));
}

export function MissingReminders({ dates }: { dates: readonly ImportantDate[] }) {
  const account = useAccount();
  const { copy } = account;
  const missing = birthdaysWithoutReminder(dates, (id) => {
    const row = account.person(id);
    return row !== undefined && !row.isQuiet && !row.hasDied;
  });
  if (missing.length === 0) return null;
  const set = async (reminderEnabled: boolean) => {
    for (const { id } of missing) await copy.update("importantDate", id, { reminderEnabled });
  };
  const switchOn = async () => {
    await set(true);
    toast(tn("{count} birthday has a reminder now.", "{count} birthdays have a reminder now.", missing.length), () => set(false));
  };
  return (
    <p class="missing-reminders soft small no-print">
      {tn("{count} birthday has no reminder.", "{count} birthdays have no reminder.", missing.length)}{" "}
      <button class="link" onClick={() => void switchOn()}>{t("Switch them on")}</button>
    </p>
  );
}
