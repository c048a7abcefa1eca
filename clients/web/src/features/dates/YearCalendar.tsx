// The twelve months of a year. The grid of a month shows where its days are; the list below says whose they are.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { href, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { addDays, type Day, dayInWords, daysBetween, today, weekOf } from "../../i18n/days.ts";
import { t, tn } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { Icon } from "../../ui/Icon.tsx";
import { occasion, yearsInWords } from "../person/dates.ts";
import { type Occurrence, occurrences } from "./occurrences.ts";

const FIRST_YEAR = 1000;
const LAST_YEAR = 9998;
const MAX_LINES = 100; // of a month

export function YearCalendar({ views }: { views: ComponentChildren }) {
  const account = useAccount();
  const now = today(account.settings.value.timezone);
  const wanted = Number(place.value.query.get("year"));
  const year = Number.isInteger(wanted) && wanted >= FIRST_YEAR && wanted <= LAST_YEAR ? wanted : Number(now.slice(0, 4));
  const dates = useAll("importantDate").value;
  const people = account.people.value;
  const found = useMemo(() => occurrences(account, dates ?? [], `${year}-01-01`, `${year}-12-31`), [dates, people, account.peopleVersion.value, year]);
  const byMonth = new Map<string, Occurrence[]>();
  for (const each of found) {
    const month = each.day.slice(0, 7);
    const list = byMonth.get(month);
    if (list) list.push(each);
    else byMonth.set(month, [each]);
  }
  // A month in each frame: with thousands of people all at once would hold up the page.
  const [shown, setShown] = useState(1);
  useEffect(() => {
    if (shown >= 12) return;
    const frame = requestAnimationFrame(() => setShown(shown + 1));
    return () => cancelAnimationFrame(frame);
  }, [shown]);
  const months = [...Array(12).keys()].map((month) => `${year}-${String(month + 1).padStart(2, "0")}`);
  const go = (to: number) => setQuery({ year: String(to) });
  return (
    <>
      <div class="dates-head">
        {views}
        <div class="row nowrap">
          <button class="plain icon no-print" onClick={() => go(year - 1)} aria-label={t("The year before")}>
            <Icon name="back" />
          </button>
          <h2 aria-live="polite">{year}</h2>
          <button class="plain icon no-print" onClick={() => go(year + 1)} aria-label={t("The year after")}>
            <Icon name="next" />
          </button>
          <button class="no-print" onClick={() => print()}>
            <Icon name="print" />
            {t("Print")}
          </button>
        </div>
      </div>
      <div class="months">
        {dates && months.slice(0, shown).map((month) => (
          <Month key={month} month={month} now={now} found={byMonth.get(month) ?? []} />
        ))}
      </div>
    </>
  );
}

function Month({ month, now, found }: { month: string; now: Day; found: Occurrence[] }) {
  const first = `${month}-01`;
  const marked = new Set(found.map(({ day }) => day));
  const days: Day[] = [];
  for (let day = first; day.startsWith(month); day = addDays(day, 1)) days.push(day);
  const start = weekOf(first);
  const empty = daysBetween(start, first);
  const week = [...Array(7).keys()].map((index) => addDays(start, index));
  return (
    <section class="card stack tight month" aria-label={dayInWords(first, { month: "long" })}>
      <h3>{dayInWords(first, { month: "long" })}</h3>
      <div class="month-grid" aria-hidden="true">
        {week.map((day) => (
          <span key={day} class="soft">
            {dayInWords(day, { weekday: "narrow" })}
          </span>
        ))}
        {[...Array(empty).keys()].map((index) => (
          <span key={index} />
        ))}
        {days.map((day) => (
          <span key={day} class={`${marked.has(day) ? "marked" : ""} ${day === now ? "now" : ""}`}>
            {Number(day.slice(8))}
          </span>
        ))}
      </div>
      {found.length > 0 && (
        <ul class="small">
          {found.slice(0, MAX_LINES).map(({ id, day, row, date, with: other }) => (
            <li key={id} class="month-line">
              <span class="soft">{dayInWords(day, { day: "numeric", month: "short" })}</span>
              <span>
                {(other ? [row, other.row] : [row]).map((each) => (
                  <span key={each.id}>
                    {each !== row && ", "}
                    <a href={href(`/people/${each.id}`)}>
                      <bdi>{each.name}</bdi>
                    </a>
                  </span>
                ))}{" "}
                <span class="soft month-what">{[occasion(date!), yearsInWords(date!, day)].filter(Boolean).join(" · ")}</span>
              </span>
            </li>
          ))}
          {found.length > MAX_LINES && <li><a href={href("/dates?view=list")}>{tn("and {count} more", "and {count} more", found.length - MAX_LINES)}</a></li>}
        </ul>
      )}
    </section>
  );
}
