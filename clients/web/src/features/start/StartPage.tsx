// Today: whose day it is, who it is time for, what was lately; beside it the week, a memory and what is to decide.
import { useMemo } from "preact/hooks";
import { openBox } from "../../app/box.ts";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { addDays, type Day, dayInWords, daysBetween, nearDayInWords, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useAll, useMany } from "../../store/records.ts";
import { Icon } from "../../ui/Icon.tsx";
import { isPhone } from "../../ui/media.ts";
import { Page } from "../../ui/Page.tsx";
import { useAnswers } from "../dates/answers.tsx";
import { contactsDue, nextOccurrences, type Occurrence, occurrences, rowsOf } from "../dates/occurrences.ts";
import { useTouches } from "../dates/touches.ts";
import { ImportNews } from "../imports/ImportNews.tsx";
import { useMeetings } from "../meetings/proposals.ts";
import { TodaysMeetings } from "../meetings/TodaysMeetings.tsx";
import { useCardKeys } from "./cards.ts";
import { hourIn, livesInCountry, useMinute, useZones } from "./clock.ts";
import { DayCard, DoneCard } from "./DayCard.tsx";
import { Decisions } from "./Decisions.tsx";
import { DueList } from "./DueList.tsx";
import { FirstDays, FirstPerson, FirstPicture, useFirstDays } from "./FirstDays.tsx";
import { Lately, Memory } from "./Lately.tsx";
import { RemindersOffer } from "./RemindersOffer.tsx";
import { Week } from "./Week.tsx";
import "../dates/dates.css";
import "./start.css";

const MAX_CARDS = 4;
const MAX_DUE = 5;
const SHOWN_NEXT = 3;
const WEEK = 7;

export default function StartPage() {
  const account = useAccount();
  const { timezone, name, nameOrder } = account.settings.value;
  const minute = useMinute();
  const now = today(timezone, minute);
  const dates = useAll("importantDate").value;
  const touches = useTouches(now, timezone).value;
  const answers = useAnswers();
  const people = account.people.value;
  const version = account.peopleVersion.value;
  const { week, next } = useMemo(() => {
    const tomorrow = addDays(now, 1);
    const found = occurrences(account, dates ?? [], now, addDays(now, WEEK - 1));
    const later = found.filter(({ day }) => day >= tomorrow);
    return { week: found, next: later.length < SHOWN_NEXT ? nextOccurrences(account, dates ?? [], tomorrow, SHOWN_NEXT) : later.slice(0, SHOWN_NEXT) };
  }, [dates, people, version, now]);
  const isDone = (each: Occurrence) => rowsOf(each).some(({ id }) => touches?.today.has(id));
  const ofToday = week.filter(({ day, row }) => day === now && row.id !== account.meId);
  const isOwnDay = week.some(({ day, row, date }) => day === now && row.id === account.meId && date?.type === "BIRTHDAY");
  const cards = ofToday.filter((each) => !isDone(each));
  const congratulated = ofToday.filter((each) => isDone(each) && !each.isMemorial);
  // Somebody whose day it is has a card already.
  const withCard = new Set(ofToday.filter(({ isMemorial }) => !isMemorial).flatMap(rowsOf).map(({ id }) => id));
  const due = contactsDue(account, now, now)
    .filter((each) => !isDone(each) && !withCard.has(each.row.id) && !answers.find(each))
    .sort((one, other) => (one.on < other.on ? -1 : 1));
  const shownCards = cards.slice(0, MAX_CARDS);
  const shownDue = due.slice(0, MAX_DUE);
  const records = useMany("person", [...shownCards, ...shownDue].map(({ row }) => row.id));
  const lives = new Map(shownCards.map(({ row }) => [row.id, livesInCountry(records?.get(row.id), minute)]));
  const zones = useZones(records ? shownCards.map(({ row }) => row).filter(({ id }) => !lives.get(id)) : [], now);
  const meetings = useMeetings();
  const first = useFirstDays();
  const keys = useCardKeys();
  const { syncedAt, phase } = account.sync.value;
  const isKnown = people.length > 0 || syncedAt !== null || phase === "offline"; // a new browser has nobody at first
  const isEmpty = people.length === 0 && isKnown;
  // Nothing is shown before all is read: what comes later would push away what is there.
  const isRead = isKnown && dates !== undefined && touches !== undefined && records !== undefined && meetings !== undefined && first.isRead;
  return (
    <Page
      title={t("Today")}
      width="wide"
      actions={
        isPhone.value && (
          <button class="plain icon" onClick={() => openBox({ peopleFirst: true })} aria-label={t("Search or do")}>
            <Icon name="search" size={22} />
          </button>
        )
      }
      heading={
        <>
          <span class="soft small hello-day">{dayInWords(now, { weekday: "long", day: "numeric", month: "long" })}</span> <span class="block">{greeting(isEmpty, isOwnDay, hourIn(minute, timezone), nameOrder === "EASTERN" ? name : (name ?? "").split(" ")[0]!)}</span>
        </>
      }
    >
      <RemindersOffer />
      <ImportNews />
      <div class="two today" {...keys} aria-busy={!isRead}>
        {isRead && (
          <>
            <div class="stack day-sections">
              {isEmpty && <p class="soft">{t("Everyone you know, well remembered.")}</p>}
              {ofToday.length === 0 && <FirstDays {...first} isEmpty={isEmpty} />}
              {isEmpty && <FirstPerson />}
              {shownCards.map((each) => (
                <DayCard key={each.id} occurrence={each} person={records.get(each.row.id)} answers={answers} minute={minute} now={now} lives={lives.get(each.row.id) ?? zones.get(each.row.id)} />
              ))}
              {cards.length > MAX_CARDS && <p><a class="button plain" href={href(`/dates?view=list`)}>{t("All {count} of today", { count: cards.length })}</a></p>}
              {congratulated.map((each) => <DoneCard key={`done ${each.id}`} occurrence={each} />)}
              {ofToday.length > 0 && <FirstDays {...first} isEmpty={isEmpty} />}
              {due.length > 0 && <DueList due={shownDue} count={due.length} records={records} answers={answers} now={now} />}
              <TodaysMeetings meetings={meetings} />
              {cards.length + congratulated.length + due.length + meetings.length === 0 && !isEmpty && <p class="card quiet-day">{quietDay(next[0], now)}</p>}
              <Lately ids={touches.latest} now={now} />
            </div>
            <div class="stack day-sections">
              {isEmpty ? <FirstPicture /> : <Week days={week} next={next} now={now} />}
              {touches.memory && <Memory id={touches.memory} now={now} />}
              <Decisions meetings={meetings.length} />
            </div>
          </>
        )}
      </div>
    </Page>
  );
}

const [MORNING, NOON, EVENING] = [5, 12, 18];

function greeting(isEmpty: boolean, isOwnDay: boolean, hour: number, name: string): string {
  if (isOwnDay && name) return t("Happy birthday, {name}", { name });
  if (isEmpty) return name ? t("Welcome, {name}", { name }) : t("Welcome");
  if (hour >= MORNING && hour < NOON) return name ? t("Good morning, {name}", { name }) : t("Good morning");
  if (hour >= NOON && hour < EVENING) return name ? t("Good afternoon, {name}", { name }) : t("Good afternoon");
  return name ? t("Good evening, {name}", { name }) : t("Good evening");
}

// "Nothing today. The next is Inês, on Monday."
function quietDay(next: Occurrence | undefined, now: Day): string {
  if (!next) return t("Nothing today.");
  const days = daysBetween(now, next.day);
  const when = days === 1 ? nearDayInWords(next.day, now) : days < WEEK ? t("on {weekday}", { weekday: nearDayInWords(next.day, now) }) : t("on {day}", { day: nearDayInWords(next.day, now) });
  return t("Nothing today. The next is {name}, {when}.", { name: next.row.name, when });
}
