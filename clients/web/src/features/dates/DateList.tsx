// Dates and people to get in touch with by nearness, each with call and write.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { addDays, type Day, dayInWords, daysBetween, nearDayInWords, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useAll, useMany } from "../../store/records.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { isPhone } from "../../ui/media.ts";
import { answerInWords, Later, useAnswers } from "./answers.tsx";
import { isReminded, MissingReminders, remindersOf, switchReminders } from "./Bell.tsx";
import { DateRow, NoDates } from "./DateRow.tsx";
import { byDay, contactsDue, type Occurrence, occurrences, SPANS } from "./occurrences.ts";
import { Reach, writeItems } from "./Reach.tsx";
import { logOnce } from "./touches.ts";

const DEFAULT_DAYS = 365;
const AT_ONCE = 60; // rows that are drawn, and then as many again
const SOON = 7;

const KINDS: { kind: string; label: string; has: (each: Occurrence) => boolean }[] = [
  { kind: "birthday", label: "Birthdays", has: ({ date, isMemorial }) => date?.type === "BIRTHDAY" && !isMemorial },
  { kind: "anniversary", label: "Anniversaries", has: ({ date, isMemorial }) => date?.type === "ANNIVERSARY" && !isMemorial },
  { kind: "other", label: "Other days", has: ({ date, isMemorial }) => date !== null && !isMemorial && date.type !== "BIRTHDAY" && date.type !== "ANNIVERSARY" },
  { kind: "memorial", label: "In memory", has: ({ isMemorial }) => isMemorial },
  { kind: "contact", label: "To get in touch", has: ({ date }) => date === null },
];

export function DateList({ views }: { views: ComponentChildren }) {
  const account = useAccount();
  const { query } = place.value;
  const days = Number(query.get("days")) || DEFAULT_DAYS;
  const kinds = (query.get("kind") ?? "").split(",").filter((kind) => KINDS.some((each) => each.kind === kind));
  const now = today(account.settings.value.timezone);
  const dates = useAll("importantDate").value;
  const people = account.people.value;
  const answers = useAnswers();
  const [limit, setLimit] = useState(AT_ONCE);
  const wanted = KINDS.filter(({ kind }) => kinds.includes(kind));
  // Not all of a year where less fills the list.
  const found = useMemo(() => {
    let coming: Occurrence[] = [];
    for (const span of SPANS) {
      const to = addDays(now, Math.min(days, span));
      coming = [...occurrences(account, dates ?? [], now, to), ...contactsDue(account, now, to)].filter((each) => wanted.length === 0 || wanted.some(({ has }) => has(each)));
      if (coming.length > limit || span >= days) break;
    }
    return coming.sort(byDay);
  }, [dates, people, account.peopleVersion.value, now, days, limit, kinds.join()]);
  const shown = found.slice(0, limit);
  const records = useMany("person", [...new Set(shown.map(({ row }) => row.id))]);
  const toggle = (kind: string) => setQuery({ kind: (kinds.includes(kind) ? kinds.filter((each) => each !== kind) : [...kinds, kind]).join() || null });
  const sections = new Map<string, Occurrence[]>();
  for (const each of shown) {
    const heading = headingOf(each.day, now);
    sections.set(heading, [...(sections.get(heading) ?? []), each]);
  }
  return (
    <div class="stack day-sections dates-list">
      <div class="dates-head">
        {views}
        <div class={`people-chips no-print ${kinds.length ? "wrapped" : ""}`} role="group" aria-label={t("Which days")}>
          {KINDS.map(({ kind, label }) => (
            <button key={kind} class={`chip ${kinds.includes(kind) ? "chosen" : ""}`} aria-pressed={kinds.includes(kind)} onClick={() => toggle(kind)}>
              {t(label)}
            </button>
          ))}
        </div>
      </div>
      {dates && <MissingReminders dates={dates} />}
      {dates && found.length === 0 && (kinds.length > 0 || dates.length > 0) && <Empty kind="date" title={t("Nothing is coming up in this time.")} />}
      {dates?.length === 0 && found.length === 0 && kinds.length === 0 && <NoDates />}
      {[...sections].map(([heading, list]) => (
        <section key={heading} class="section" aria-label={heading}>
          <h2>{heading}</h2>
          <ul class="card day-rows">
            {list.map((each) => {
              const { row, day, isOverdue, isMemorial } = each;
              const person = records?.get(row.id);
              const ofRow = remindersOf(each);
              const done = { label: t("Done"), onSelect: () => void logOnce(account, [row], now) };
              const away = daysBetween(now, day);
              const when = [away === 0 ? (isOverdue ? t("overdue") : null) : away < SOON ? nearDayInWords(day, now) : dayInWords(day, { weekday: "long" }), answerInWords(answers.find(each)), isPhone.value && each.date && !isReminded(ofRow) && t("No reminder")];
              return (
                <DateRow key={each.id} occurrence={each} now={now} when={when.filter(Boolean).join(" · ") || null} hasBell={!isPhone.value}>
                  {!isMemorial && <Reach person={person} name={row.name} isCallAlone={isPhone.value} />}
                  <Later occurrence={each} answers={answers} others={isPhone.value ? [...(isMemorial ? [] : writeItems(account, person)), ...(each.date ? [{ label: isReminded(ofRow) ? t("No reminder") : t("Reminder on the day"), onSelect: () => switchReminders(account, ofRow) }] : [done])] : []} />
                  {!each.date && !isPhone.value && (
                    <button class="plain icon no-print" onClick={done.onSelect} aria-label={t("Done: {name}", { name: row.name })}>
                      <Icon name="check" size={18} />
                    </button>
                  )}
                </DateRow>
              );
            })}
          </ul>
        </section>
      ))}
      {found.length > shown.length && (
        <p>
          <button onClick={() => setLimit(limit + AT_ONCE)}>{t("Show more")}</button>
        </p>
      )}
    </div>
  );
}

// "Today", "In the next seven days", "Later in December", then the months.
function headingOf(day: Day, now: Day): string {
  const away = daysBetween(now, day);
  if (away <= 0) return t("Today");
  if (away < SOON) return t("In the next seven days");
  const soon = addDays(now, SOON);
  if (day.slice(0, 7) === soon.slice(0, 7)) return t("Later in {month}", { month: dayInWords(day, { month: "long" }) });
  const month = dayInWords(day, { month: "long", ...(day.slice(0, 4) !== now.slice(0, 4) && { year: "numeric" }) });
  return month[0]!.toLocaleUpperCase() + month.slice(1);
}
