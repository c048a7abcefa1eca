// What is coming, a year's calendar, and insights with their reasons. A day is the day in the account's zone.
import { useMemo } from "preact/hooks";
import { href, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { addDays, type Day, dayInWords, daysBetween, daysFromNow, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { SelectField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Page } from "../../ui/Page.tsx";
import { PersonLink } from "../people/PersonLink.tsx";
import { AnswerButtons, type Answers, answerInWords, useAnswers } from "./answers.tsx";
import { byDay, contactsDue, type Occurrence, occurrences } from "./occurrences.ts";
import { Insights } from "./Insights.tsx";
import { YearCalendar } from "./YearCalendar.tsx";
import "./dates.css";

const VIEWS: { view: string | null; label: string }[] = [
  { view: null, label: "What is coming" },
  { view: "year", label: "The year" },
  { view: "insights", label: "Insights" },
];

export default function DatesPage() {
  const view = place.value.query.get("view");
  useKeys([
    { key: "1", label: t("What is coming"), act: () => setQuery({ view: null }) },
    { key: "2", label: t("The year"), act: () => setQuery({ view: "year" }) },
    { key: "3", label: t("Insights"), act: () => setQuery({ view: "insights" }) },
  ]);
  return (
    <Page
      title={t("Dates")}
      actions={
        <a class="button" href={href("/dates/new")}>
          <Icon name="add" />
          {t("New date")}
        </a>
      }
    >
      <nav class="row no-print" aria-label={t("Views of dates")}>
        {VIEWS.map((each) => (
          <button key={each.label} class={`chip ${each.view === view ? "chosen" : ""}`} aria-pressed={each.view === view} onClick={() => setQuery({ view: each.view })}>
            {t(each.label)}
          </button>
        ))}
      </nav>
      {view === "year" ? <YearCalendar /> : view === "insights" ? <Insights /> : <Coming />}
    </Page>
  );
}

const SPANS: { days: string; label: string }[] = [
  { days: "7", label: "A week" },
  { days: "30", label: "A month" },
  { days: "90", label: "Three months" },
  { days: "365", label: "A year" },
];
const DEFAULT_SPAN = "30";

function Coming() {
  const account = useAccount();
  const wanted = place.value.query.get("days");
  const span = SPANS.find(({ days }) => days === wanted)?.days ?? DEFAULT_SPAN;
  const now = today(account.settings.value.timezone);
  const dates = useAll("importantDate").value;
  const people = account.people.value;
  const answers = useAnswers();
  const coming = useMemo(() => {
    const to = addDays(now, Number(span));
    return [...occurrences(account, dates ?? [], now, to), ...contactsDue(account, now, to)].sort(byDay);
  }, [dates, people, account.peopleVersion.value, now, span]);
  const days = new Map<Day, Occurrence[]>();
  for (const each of coming) days.set(each.day, [...(days.get(each.day) ?? []), each]);
  return (
    <>
      <div class="span-choice no-print">
        <SelectField label={t("How far ahead")} value={span} onValue={(value) => setQuery({ days: value === DEFAULT_SPAN ? null : value })} options={SPANS.map(({ days, label }) => [days, t(label)] as const)} />
      </div>
      {dates && coming.length === 0 && <p class="card">{t("Nothing is coming up in this time.")}</p>}
      {[...days].map(([day, list]) => (
        <section key={day} class="card stack tight">
          <h2>
            {dayInWords(day, { weekday: "long", day: "numeric", month: "long" })} <span class="soft small">{daysFromNow(daysBetween(now, day))}</span>
          </h2>
          <ul class="plain-lines">
            {list.map((each) => (
              <Line key={each.id} occurrence={each} answers={answers} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Line({ occurrence, answers }: { occurrence: Occurrence; answers: Answers }) {
  const { row, title, years, isOverdue } = occurrence;
  const what = title ?? (isOverdue ? t("To get in touch, overdue") : t("To get in touch"));
  return (
    <li class="row apart">
      <PersonLink person={row}>{[what, years, answerInWords(answers.find(occurrence))].filter(Boolean).join(" · ")}</PersonLink>
      <span class="row no-print">
        <AnswerButtons occurrence={occurrence} answers={answers} />
        <a class="button" href={href(`/log?person=${row.id}`)} aria-label={t("Log a contact with {name}", { name: row.name })}>
          {t("Log")}
        </a>
      </span>
    </li>
  );
}
