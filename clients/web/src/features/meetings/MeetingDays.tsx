// Meetings that may be logged, day by day; those of a day also all at once.
import { useAccount } from "../../app/session.ts";
import { nearDayInWords, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { Icon } from "../../ui/Icon.tsx";
import { logMeetings } from "./answer.ts";
import { MeetingRow } from "./MeetingRow.tsx";
import { byDay, type Meeting } from "./proposals.ts";

// `all` are those of which `shown` are the first: with a day go all of it.
export function MeetingDays({ shown, all, level }: { shown: readonly Meeting[]; all: readonly Meeting[]; level: "h2" | "h3" }) {
  const account = useAccount();
  const now = today(account.settings.value.timezone);
  const Heading = level;
  return (
    <>
      {byDay(shown).map(({ day, meetings }) => {
        const ofDay = all.filter((each) => each.day === day);
        const when = nearDayInWords(day, now);
        return (
          <section key={day} class="meeting-day" aria-label={when}>
            <header class="row apart">
              <Heading>{when}</Heading>
              {ofDay.length > 1 && (
                <button class="plain small no-print" onClick={() => void logMeetings(account, ofDay)} aria-label={t("Log all {count}: {day}", { count: ofDay.length, day: when })}>
                  <Icon name="check" size={16} />
                  {t("Log all {count}", { count: ofDay.length })}
                </button>
              )}
            </header>
            <ul class="card meeting-rows">
              {meetings.map((meeting) => <MeetingRow key={meeting.proposal.id} meeting={meeting} />)}
            </ul>
          </section>
        );
      })}
    </>
  );
}
