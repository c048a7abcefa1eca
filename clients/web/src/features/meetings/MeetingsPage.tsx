// All meetings that calendars propose to log, the latest first.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Page } from "../../ui/Page.tsx";
import { useCardKeys } from "../start/cards.ts";
import { MeetingDays } from "./MeetingDays.tsx";
import { useMeetings } from "./proposals.ts";

const STEP = 50;

export default function MeetingsPage() {
  const meetings = useMeetings();
  const [count, setCount] = useState(STEP);
  const keys = useCardKeys();
  return (
    <Page title={t("Meetings to log")} back="/" width="form" actions={<a class="button" href={href("/calendars")}>{t("Calendars")}</a>}>
      <div class="stack" {...keys} aria-busy={!meetings}>
        {meetings?.length === 0 && (
          <Empty kind="touch">
            <p>{t("Nothing to log. What you had with your people is asked about here, from the calendars that you name.")}</p>
            <p class="row"><a class="button" href={href("/calendars")}>{t("Calendars")}</a></p>
          </Empty>
        )}
        {meetings && <MeetingDays shown={meetings.slice(0, count)} all={meetings} level="h2" />}
        {meetings && meetings.length > count && <p><button onClick={() => setCount(count + STEP)}>{t("Show more")}</button></p>}
      </div>
    </Page>
  );
}
