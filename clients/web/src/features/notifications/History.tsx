// What was sent, and what became of it.
import type { components } from "contacts-client";
import { useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { channelInWords, noticeInWords, reasonInWords, stateInWords } from "./words.ts";

type Schemas = components["schemas"];

const PAGE_SIZE = 25;

export function History() {
  const { settings } = useAccount();
  const [limit, setLimit] = useState(PAGE_SIZE);
  const [found] = useRemote(`deliveries ${limit}`, async (signal) => {
    const { deliveries, pagination } = await connection.ask("GET", `/api/notifications/deliveries?limit=${limit}`, undefined, { signal });
    return { rows: deliveries as Schemas["Delivery"][], total: pagination.total as number };
  });
  const { data, problem } = found.value;
  return (
    <details class="card">
      <summary><h2>{t("What was sent in the last 90 days")}</h2></summary>
      <ProblemNote problem={problem} />
      {data?.rows.length === 0 && <p class="soft">{t("Nothing.")}</p>}
      <ul class="plain-lines">
        {data?.rows.map((row) => (
          <li key={row.id}>
            <bdi>{noticeInWords(row)}</bdi> <span class="badge">{stateInWords(row.status)}</span>
            <span class="soft small block capital">
              {[timeInWords(row.endedAt ?? row.dueAt, settings.value.timezone), row.destination || channelInWords(row.channel), reasonInWords(row.code), row.late && t("late"), row.attempts > 1 && tn("{count} attempt", "{count} attempts", row.attempts), row.nextTryAt && t("again {when}", { when: timeInWords(row.nextTryAt, settings.value.timezone) })].filter(Boolean).join(" · ")}
            </span>
          </li>
        ))}
      </ul>
      {data && data.rows.length < data.total && limit < 1000 && <div class="row"><button onClick={() => setLimit(Math.min(1000, limit + 100))}>{t("Show more of {total}", { total: formatNumber(data.total) })}</button></div>}
    </details>
  );
}
