// On Today: the latest meetings that calendars propose to log.
import { href } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { MeetingDays } from "./MeetingDays.tsx";
import type { Meeting } from "./proposals.ts";

const MAX_SHOWN = 4;

export function TodaysMeetings({ meetings }: { meetings: readonly Meeting[] }) {
  if (meetings.length === 0) return null;
  return (
    <section class="section" aria-label={t("Log it?")}>
      <header>
        <h2>{t("Log it?")}</h2>
        {meetings.length > MAX_SHOWN && (
          <a class="button plain small" href={href("/meetings")}>
            {t("All {count}", { count: meetings.length })}
          </a>
        )}
      </header>
      <MeetingDays shown={meetings.slice(0, MAX_SHOWN)} all={meetings} level="h3" />
    </section>
  );
}
