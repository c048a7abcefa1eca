// A month with the faces of those who have a day in it. Arrows go through the days, Enter adds a date to one.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { href, navigate, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { addDays, addMonths, type Day, dayInWords, nearDayInWords, today, weekOf } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { isDesk } from "../../ui/media.ts";
import { MissingReminders } from "./Bell.tsx";
import { DateRow, NoDates } from "./DateRow.tsx";
import { nextOccurrences, type Occurrence, occurrenceInWords, occurrences, whoseInWords } from "./occurrences.ts";

const WEEK = 7;
const WEEKS = 6; // as many in each month, so that nothing below moves
const SHOWN_NEXT = 5;
const MAX_FACES = 2; // of a day
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -WEEK, ArrowDown: WEEK };

const isDay = (text: string | null): text is Day => text !== null && /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text;

export function MonthView({ views }: { views: ComponentChildren }) {
  const account = useAccount();
  const { query } = place.value;
  const now = today(account.settings.value.timezone);
  const chosen = isDay(query.get("day")) ? query.get("day")! : null;
  const wanted = `${query.get("month")}-01`;
  const first = isDay(wanted) ? wanted : `${(chosen ?? now).slice(0, 7)}-01`;
  const start = weekOf(first);
  const end = addDays(start, WEEKS * WEEK - 1);
  const dates = useAll("importantDate").value;
  const people = account.people.value;
  const version = account.peopleVersion.value;
  const found = useMemo(() => occurrences(account, dates ?? [], start, end), [dates, people, version, start]);
  const next = useMemo(() => nextOccurrences(account, dates ?? [], now, SHOWN_NEXT), [dates, people, version, now]);
  const byDay = new Map<Day, Occurrence[]>();
  for (const each of found) byDay.set(each.day, [...(byDay.get(each.day) ?? []), each]);
  const go = (months: number) => setQuery({ month: addMonths(first, months).slice(0, 7), day: null });
  const choose = (day: Day) => setQuery({ month: day.slice(0, 7), day });
  const ofChosen = chosen ? occurrences(account, dates ?? [], chosen, chosen) : [];
  return (
    <>
      <div class="dates-head">
        {views}
        <div class="row nowrap no-print">
          <button class="plain icon" onClick={() => go(-1)} aria-label={t("The month before")}>
            <Icon name="back" />
          </button>
          <h2 class="month-title" aria-live="polite">{dayInWords(first, { month: "long", year: "numeric" })}</h2>
          <button class="plain icon" onClick={() => go(1)} aria-label={t("The month after")}>
            <Icon name="next" />
          </button>
          <button onClick={() => setQuery({ month: null, day: null })}>{t("Today")}</button>
        </div>
      </div>
      <div class="two">
        <Grid first={first} start={start} now={now} chosen={chosen} byDay={byDay} onChoose={choose} />
        <div class="stack day-sections">
          {chosen && (
            <section class="section" aria-label={dayInWords(chosen, { weekday: "long", day: "numeric", month: "long" })}>
              <header>
                <h2 class="capital">{dayInWords(chosen, { weekday: "long", day: "numeric", month: "long" })}</h2>
                <a class="button small" href={href(`/dates/new?day=${chosen}`)} aria-label={t("Add a date on {day}", { day: dayInWords(chosen) })}>
                  <Icon name="add" size={16} />
                  {t("Add")}
                </a>
              </header>
              {ofChosen.length > 0 && (
                <ul class="card day-rows">
                  {ofChosen.map((each) => <DateRow key={each.id} occurrence={each} now={now} when={null} isSmall />)}
                </ul>
              )}
            </section>
          )}
          {dates && (
            <section class="section" aria-label={t("Next|dates")}>
              <header>
                <h2>{t("Next|dates")}</h2>
              </header>
              {next.length === 0 ? (
                <div class="card"><NoDates /></div>
              ) : (
                <ul class="card day-rows">
                  {next.map((each) => <DateRow key={each.id} occurrence={each} now={now} when={nearDayInWords(each.day, now)} isSmall />)}
                </ul>
              )}
              <MissingReminders dates={dates} />
            </section>
          )}
        </div>
      </div>
    </>
  );
}

interface GridProps {
  first: Day;
  start: Day;
  now: Day;
  chosen: Day | null;
  byDay: ReadonlyMap<Day, Occurrence[]>;
  onChoose: (day: Day) => void;
}

function Grid({ first, start, now, chosen, byDay, onChoose }: GridProps) {
  const root = useRef<HTMLTableElement>(null);
  const moved = useRef<Day | null>(null); // the day that gets the focus once it is shown
  // The Tab stop: the chosen day, else today, else the first of the month.
  const at = chosen ?? (now.slice(0, 7) === first.slice(0, 7) ? now : first);
  useLayoutEffect(() => {
    if (!moved.current) return;
    moved.current = null;
    root.current?.querySelector<HTMLElement>("button[tabindex='0']")?.focus();
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const day = moved.current ?? (event.target as HTMLElement).dataset["day"];
    if (!day || event.ctrlKey || event.metaKey || event.altKey) return;
    const isTurned = getComputedStyle(root.current!).direction === "rtl" && event.key.match(/Left|Right/);
    const step = STEPS[event.key];
    const months = { PageUp: -1, PageDown: 1 }[event.key];
    if (event.key === "Enter") navigate(`/dates/new?day=${day}`);
    else if (step || months) {
      moved.current = step ? addDays(day, isTurned ? -step : step) : addMonths(day, months!);
      onChoose(moved.current);
    } else return;
    event.preventDefault();
  };
  return (
    <table ref={root} class="calendar" role="grid" aria-label={dayInWords(first, { month: "long", year: "numeric" })} onKeyDown={onKeyDown}>
      <thead>
        <tr>
          {[...Array(WEEK).keys()].map((index) => (
            <th key={index} scope="col" abbr={dayInWords(addDays(start, index), { weekday: "long" })}>
              <span class="weekday-short">{dayInWords(addDays(start, index), { weekday: "short" })}</span>
              <span class="weekday-narrow">{dayInWords(addDays(start, index), { weekday: "narrow" })}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {[...Array(WEEKS).keys()].map((week) => (
          <tr key={week}>
            {[...Array(WEEK).keys()].map((index) => {
              const day = addDays(start, week * WEEK + index);
              const found = byDay.get(day) ?? [];
              const whose = whoseInWords(found);
              const classes = [day.slice(0, 7) !== first.slice(0, 7) && "off", day === now && "now", day === chosen && "chosen"].filter(Boolean).join(" ");
              return (
                <td key={day} class={classes} aria-selected={day === chosen}>
                  <button
                    class="calendar-day"
                    data-day={day}
                    tabIndex={day === at ? 0 : -1}
                    aria-label={[dayInWords(day, { weekday: "long", day: "numeric", month: "long" }), whose].filter(Boolean).join(": ")}
                    aria-current={day === now ? "date" : undefined}
                    onClick={() => onChoose(day)}
                  >
                    {Number(day.slice(8))}
                  </button>
                  {found.length > 0 && <Faces found={found} />}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const KINDS: Record<string, string> = { BIRTHDAY: "date", ANNIVERSARY: "tie", MEMORIAL: "note" };

// On a desk each is a link; on smaller screens a tap on the day shows them below.
function Faces({ found }: { found: Occurrence[] }) {
  const shown = found.slice(0, isDesk.value ? MAX_FACES : 1);
  return (
    <span class="calendar-faces" aria-hidden={isDesk.value ? undefined : "true"}>
      {shown.map((each) => {
        const kind = `calendar-face kind-${each.isMemorial ? "note" : (KINDS[each.date?.type ?? ""] ?? "note")}`;
        return isDesk.value ? (
          <a key={each.id} class={kind} href={href(`/people/${each.row.id}`)} tabIndex={-1} title={occurrenceInWords(each)}>
            <Avatar person={each.row} />
            <bdi class="cut">{each.row.parts.nickname || each.row.parts.name || each.row.name}</bdi>
          </a>
        ) : (
          <span key={each.id} class={kind}>
            <Avatar person={each.row} />
          </span>
        );
      })}
      {found.length > shown.length && <span class="calendar-more">+{found.length - shown.length}</span>}
    </span>
  );
}
