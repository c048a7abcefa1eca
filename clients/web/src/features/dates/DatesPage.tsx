// Dates as a month, a list and a year, and insights with their reasons. A day is the day in the account's zone.
import { href, place, setQuery } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Page } from "../../ui/Page.tsx";
import { DateList } from "./DateList.tsx";
import { Insights } from "./Insights.tsx";
import { MonthView } from "./MonthView.tsx";
import { YearCalendar } from "./YearCalendar.tsx";
import "../people/people.css";
import "./dates.css";

const VIEWS: { view: string | null; label: string }[] = [
  { view: null, label: "Month" },
  { view: "list", label: "List" },
  { view: "year", label: "Year" },
  { view: "insights", label: "Insights" },
];

export default function DatesPage() {
  const { query } = place.value;
  // The list of before had its days in the address.
  const view = query.get("view") ?? (query.has("days") ? "list" : null);
  const show = (wanted: string | null) => setQuery({ view: wanted, days: null });
  useKeys([
    { key: "1", label: t("Month"), act: () => show(null) },
    { key: "2", label: t("List"), act: () => show("list") },
    { key: "3", label: t("Year"), act: () => show("year") },
    { key: "4", label: t("Insights"), act: () => show("insights") },
  ]);
  const views = (
    <nav class="segments no-print" aria-label={t("Views of dates")}>
      {VIEWS.map((each) => (
        <button key={each.label} aria-pressed={each.view === view} onClick={() => show(each.view)}>
          {t(each.label)}
        </button>
      ))}
    </nav>
  );
  return (
    <Page
      title={t("Dates")}
      width="wide"
      actions={
        <a class="button main" href={href("/dates/new")}>
          <Icon name="add" />
          {t("New date")}
        </a>
      }
    >
      {view === "year" ? <YearCalendar views={views} /> : view === "list" ? <DateList views={views} /> : view === "insights" ? <Insights views={views} /> : <MonthView views={views} />}
    </Page>
  );
}
