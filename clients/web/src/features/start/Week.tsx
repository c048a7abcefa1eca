// The seven days from today with the faces of those who have one of them, and the next dates.
import { href } from "../../app/router.ts";
import { addDays, type Day, dayInWords, daysBetween, nearDayInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Leaf } from "../dates/Leaf.tsx";
import { type Occurrence, occurrenceInWords, rowsOf, whoseInWords } from "../dates/occurrences.ts";

const DAYS = 7;

export function Week({ days, next, now }: { days: Occurrence[]; next: Occurrence[]; now: Day }) {
  return (
    <section class="section" aria-label={t("The week")}>
      <header>
        <h2>{t("The week")}</h2>
        <a class="button plain small no-print" href={href("/dates")}>
          {t("Month")}
        </a>
      </header>
      <ol class="card week">
        {[...Array(DAYS).keys()].map((index) => {
          const day = addDays(now, index);
          const found = days.filter((each) => each.day === day);
          const whose = whoseInWords(found);
          return (
            <li key={day}>
              <a
                class={`week-day ${found.length ? "has" : ""} ${index === 0 ? "today" : ""}`}
                href={href(`/dates?month=${day.slice(0, 7)}&day=${day}`)}
                aria-current={index === 0 ? "date" : undefined}
              >
                <span class="hidden-text">{[dayInWords(day, { weekday: "long", day: "numeric", month: "long" }), whose].filter(Boolean).join(": ")}</span>
                <span aria-hidden="true">{dayInWords(day, { weekday: "short" })}</span>
                <b aria-hidden="true">{Number(day.slice(8))}</b>
                {found[0] && <Avatar person={found[0].row} />}
                {found.length > 1 && <span class="week-more" aria-hidden="true">+{found.length - 1}</span>}
              </a>
            </li>
          );
        })}
      </ol>
      {next.length > 0 && (
        <ul class="card day-rows">
          {next.map((each) => (
            <li key={each.id}>
              <a class="date-row" href={href(`/people/${each.row.id}`)}>
                <Leaf day={each.day} tone={daysBetween(now, each.day) < DAYS ? "" : "far"} />
                <span class="grow">
                  <b>{occurrenceInWords(each)}</b>
                  <span class="soft small block capital">{nearDayInWords(each.day, now)}</span>
                </span>
                <span class="pile">
                  {rowsOf(each).map((row) => <Avatar key={row.id} person={row} size="small" />)}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
