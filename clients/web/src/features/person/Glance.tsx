// At a glance: the next date, the last contact with the time used of the interval, and the first lines of the notes.
import { useAccount } from "../../app/session.ts";
import { addInterval, daysBetween, daysFromNow, type Day, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useRecordsOf } from "../../store/records.ts";
import { Icon } from "../../ui/Icon.tsx";
import { reveal } from "../../ui/scroll.ts";
import { intervalLabel } from "../people/intervals.ts";
import { nextOccurrence, occasion, reminderInWords, yearsInWords } from "./dates.ts";
import type { Person } from "./entries.ts";
import { kindLabel } from "./interactions.ts";

const RADIUS = 17; // of the ring, in a box of 40

export function Glance({ person, onReminder }: { person: Person; onReminder: () => void }) {
  const cards = [<NextDate key="date" person={person} />, <LastContact key="touch" person={person} onReminder={onReminder} />, <FirstLines key="note" person={person} />];
  return <div class="glance">{cards}</div>;
}

function NextDate({ person }: { person: Person }) {
  const { settings } = useAccount();
  const { timezone, leapDayRule, defaultReminderLeadDays } = settings.value;
  const now = today(timezone);
  const dates = useRecordsOf("importantDate", person.id).value ?? [];
  const [next] = dates
    .flatMap((date) => {
      const day = nextOccurrence(date, now, leapDayRule);
      return day ? [{ date, day }] : [];
    })
    .sort((one, other) => (one.day < other.day ? -1 : 1));
  if (!next) return null;
  const { date, day } = next;
  const years = date.type === "BIRTHDAY" && person.deathday ? null : yearsInWords(date, day);
  return (
    <button class="glance-card kind-date" onClick={() => showSection("person-dates")}>
      <Icon name={date.type === "BIRTHDAY" ? "cake" : "calendar"} size={22} />
      <span>
        <span class="glance-label">{sentence(daysFromNow(daysBetween(now, day)))}</span>
        <strong>{[occasion(date), years].filter(Boolean).join(", ")}</strong>
        <span class="glance-more">{reminderInWords(date, defaultReminderLeadDays)}</span>
      </span>
    </button>
  );
}

function LastContact({ person, onReminder }: { person: Person; onReminder: () => void }) {
  const { settings } = useAccount();
  const now = today(settings.value.timezone);
  const interactions = useRecordsOf("interaction", person.id).value ?? [];
  const latest = interactions.reduce<(typeof interactions)[number] | undefined>((one, other) => (one && one.at > other.at ? one : other), undefined);
  const { lastContact, contactReminderEnabled, contactReminderInterval, contactReminderIntervalUnit } = person;
  if (!lastContact && !contactReminderEnabled) return null;
  const interval = contactReminderInterval ?? 1;
  const unit = contactReminderIntervalUnit ?? "MONTHS";
  const isOfLatest = latest && lastContact && latest.at.slice(0, 10) >= lastContact;
  return (
    <button class="glance-card kind-touch" onClick={contactReminderEnabled ? onReminder : () => showSection("person-together")}>
      {contactReminderEnabled ? <Ring used={lastContact ? usedOf(lastContact, addInterval(lastContact, interval, unit), now) : 1} /> : <Icon name="log" size={22} />}
      <span>
        <span class="glance-label">{lastContact ? sentence(daysFromNow(daysBetween(now, lastContact))) : t("No contact yet")}</span>
        <strong>
          <bdi>{isOfLatest ? latest.title || kindLabel(latest.kind) : t("Last contact")}</bdi>
        </strong>
        {contactReminderEnabled && <span class="glance-more">{t("Goal: {interval}", { interval: inside(intervalLabel(interval, unit)) })}</span>}
      </span>
    </button>
  );
}

function usedOf(from: Day, to: Day, now: Day): number {
  return Math.max(0, Math.min(1, daysBetween(from, now) / Math.max(1, daysBetween(from, to))));
}

function Ring({ used }: { used: number }) {
  const whole = 2 * Math.PI * RADIUS;
  return (
    <svg class="ring" viewBox="0 0 40 40" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="4" stroke-linecap="round">
      <circle cx="20" cy="20" r={RADIUS} opacity="0.2" />
      <circle cx="20" cy="20" r={RADIUS} stroke-dasharray={`${whole * used} ${whole}`} transform="rotate(-90 20 20)" />
    </svg>
  );
}

function FirstLines({ person }: { person: Person }) {
  const [first, second] = linesOf(person.notes);
  if (!first) return null;
  return (
    <button class="glance-card kind-note" onClick={() => showSection("person-notes")}>
      <Icon name="note" size={22} />
      <span>
        <span class="glance-label">{t("Remember")}</span>
        <strong class="two-lines">
          <bdi>{first}</bdi>
        </strong>
        {second && (
          <span class="glance-more cut">
            <bdi>{second}</bdi>
          </span>
        )}
      </span>
    </button>
  );
}

// Of notes, without the signs of Markdown.
export function linesOf(notes: string | null): string[] {
  return (notes ?? "").split("\n").map((line) => line.replace(/^[#>\-*+\s]+|[*_`]/g, "").trim()).filter(Boolean);
}

function showSection(id: string): void {
  reveal(document.getElementById(id));
}

function sentence(text: string): string {
  return text.slice(0, 1).toLocaleUpperCase() + text.slice(1);
}

function inside(text: string): string {
  return text.slice(0, 1).toLocaleLowerCase() + text.slice(1);
}
