// Reminders: the ways over which the account is told, when, what comes next and what was sent.
import { connection } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { Page } from "../../ui/Page.tsx";
import { Section } from "../settings/rows.tsx";
import { Destinations } from "./Destinations.tsx";
import { History } from "./History.tsx";
import { Times } from "./Times.tsx";
import { Upcoming } from "./Upcoming.tsx";
import { Email, PushDevices } from "./Ways.tsx";
import "../dates/dates.css";

export default function NotificationsPage() {
  // The channels and their states, asked for once for the sections that show them.
  const channels = useRemote("channels", (signal) => connection.ask("GET", "/api/notifications/channels", undefined, { signal }));
  const { data, problem } = channels[0].value;
  return (
    <Page title={t("Reminders")} back="/settings" width="form">
      <div class="stack settings">
        <Section title={t("How they reach you")}>
          <div class="card flush">
            <Email channels={channels} />
            <PushDevices channels={channels} />
            {/* Not before those above have their height: a tap would meet what has just moved under the finger. */}
            {(data || problem) && <Destinations hasProblem={problem !== null} />}
          </div>
        </Section>
        {(data || problem) && (
          <>
            <Times />
            <Upcoming />
            <History />
          </>
        )}
      </div>
    </Page>
  );
}
