// Who drifts away, whom nothing would reach, which round days come: each with its reason, in the account's language.
import type { components } from "contacts-client";
import type { ComponentChildren } from "preact";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { type Day, nearDayInWords, today } from "../../i18n/days.ts";
import { t, tn } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { PersonLink } from "../people/PersonLink.tsx";

type Answer = components["schemas"]["InsightsAnswer"];

const KINDS: { kind: "drifting" | "incomplete" | "milestones"; label: string }[] = [
  { kind: "drifting", label: "Drifting away" },
  { kind: "milestones", label: "Round days" },
  { kind: "incomplete", label: "Nothing would reach them" },
];

export function Insights({ views }: { views: ComponentChildren }) {
  const account = useAccount();
  const [found, reload] = useRemote("insights", async (signal) => (await connection.ask("GET", "/api/insights", undefined, { signal })) as Answer);
  const { data, problem } = found.value;
  const now = today(account.settings.value.timezone);
  return (
    <div class="stack day-sections dates-list">
      <div class="dates-head">{views}</div>
      <ProblemNote problem={problem} onRetry={() => void reload()} />
      {data && KINDS.every(({ kind }) => data[kind].length === 0) && <p class="card">{t("There is nothing to say: you are in touch with everybody.")}</p>}
      {data &&
        KINDS.filter(({ kind }) => data[kind].length > 0).map(({ kind, label }) => (
          <section key={kind} class="section" aria-label={t(label)}>
            <h2>{t(label)}</h2>
            <ul class="card plain-lines">
              {data[kind].map(({ personId, personName, code, reason, params }) => (
                <li key={`${personId} ${code} ${reason}`} class="row beside">
                  <PersonLink person={account.person(personId) ?? { id: personId, name: personName, photo: null }}>{kind === "milestones" ? milestoneInWords(code, params, now) : reason}</PersonLink>
                  {kind !== "incomplete" && (
                    <a class="button no-print" href={href(`/log?person=${personId}`)} aria-label={t("Log a contact with {name}", { name: personName })}>
                      {t("Log")}
                    </a>
                  )}
                </li>
              ))}
            </ul>
          </section>
        ))}
    </div>
  );
}

// The sentence of the service has the day in digits.
function milestoneInWords(code: string, params: Record<string, unknown>, now: Day): string {
  const years = Number(params["years"]);
  const what = code === "birthday" ? tn("turns {count}", "turns {count}", years) : `${t("Anniversary")}, ${tn("{count} year", "{count} years", years)}`;
  return `${what} · ${nearDayInWords(String(params["date"]), now)}`;
}
