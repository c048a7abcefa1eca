// Today: who has a day, who waits, what was not sent, what needs a decision; nothing else.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { addDays, dayInWords, daysBetween, daysFromNow, today } from "../../i18n/days.ts";
import { t, tn } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { bodiesOf, type Remote, useRemote } from "../../store/remote.ts";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { AnswerButtons, answerInWords, useAnswers } from "../dates/answers.tsx";
import { contactsDue, occurrences } from "../dates/occurrences.ts";
import { PersonLink } from "../people/PersonLink.tsx";

const DAYS_AHEAD = 7;
const MAX_WAITING = 8;

export default function StartPage() {
  const account = useAccount();
  const settings = account.settings.value;
  const now = today(settings.timezone);
  const answers = useAnswers();
  const coming = occurrences(account, useAll("importantDate").value ?? [], now, addDays(now, DAYS_AHEAD));
  const unsent = account.pending.value.length;
  const decisions = account.refused.value.length + account.conflicts.value.length;
  const [{ data, problem }, reload] = useDecisions();
  const remote: Partial<Decisions> = data ?? {};
  const todo = [
    ["/unsent", unsent, (count: number) => tn("{count} change not sent", "{count} changes not sent", count)] as const,
    ["/unsent#decisions", decisions, (count: number) => tn("{count} change needs a decision", "{count} changes need a decision", count)] as const,
    ["/duplicates", remote.duplicates, (count: number) => tn("{count} likely duplicate", "{count} likely duplicates", count)] as const,
    ["/carddav", remote.imports, (count: number) => tn("{count} contact of your server to import", "{count} contacts of your server to import", count)] as const,
    ["/carddav/conflicts", remote.conflicts, (count: number) => tn("{count} conflict with your server", "{count} conflicts with your server", count)] as const,
    ["/relationships/suggestions", remote.suggestions, (count: number) => tn("{count} suggested relationship", "{count} suggested relationships", count)] as const,
  ].flatMap(([path, count, say]) => (count ? [[path, say(count)] as const] : []));
  const waiting = contactsDue(account, now, now)
    .filter((occurrence) => !answers.find(occurrence))
    .sort((one, other) => (one.on < other.on ? -1 : 1));
  const isEmpty = account.people.value.length === 0 && account.sync.value.progress === null;
  return (
    <Page title={t("Today")}>
      <p class="soft">{dayInWords(now, { weekday: "long", day: "numeric", month: "long" })}</p>
      <RemindersOffer />
      {isEmpty && (
        <section class="card stack">
          <h2>{t("Welcome")}</h2>
          <p>{t("Everyone you know, well remembered. Begin with somebody, or bring your contacts.")}</p>
          <p class="row">
            <a class="button main" href={href("/people/new")}>
              {t("Add the first person")}
            </a>
            <a class="button" href={href("/import")}>
              {t("Import your contacts")}
            </a>
          </p>
        </section>
      )}
      {account.sync.value.phase !== "offline" && <ProblemNote problem={problem} onRetry={() => void reload()} />}
      {todo.length > 0 && (
        <section class="card stack tight">
          <h2>{t("To do")}</h2>
          <ul class="lines">
            {todo.map(([path, text]) => (
              <li key={path}>
                <a href={href(path)}>{text}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="card stack tight">
        <h2>{t("The next seven days")}</h2>
        {coming.length === 0 && <p class="soft">{t("Nothing is coming up.")}</p>}
        <ul class="plain-lines">
          {coming.map((each) => (
            <li key={each.id} class="row apart">
              <PersonLink person={each.row}>
                {[each.title, each.years, daysFromNow(daysBetween(now, each.day)), answerInWords(answers.find(each))].filter(Boolean).join(" · ")}
              </PersonLink>
              <AnswerButtons occurrence={each} answers={answers} />
            </li>
          ))}
        </ul>
      </section>
      {waiting.length > 0 && (
        <section class="card stack tight">
          <h2>{t("Waiting for you")}</h2>
          <ul class="plain-lines">
            {waiting.slice(0, MAX_WAITING).map((each) => (
              <li key={each.id} class="row apart">
                <PersonLink person={each.row}>{t("due {when}", { when: daysFromNow(daysBetween(now, each.on)) })}</PersonLink>
                <span class="row">
                  <AnswerButtons occurrence={each} answers={answers} />
                  <a class="button" href={href(`/log?person=${each.row.id}`)} aria-label={t("Log a contact with {name}", { name: each.row.name })}>
                    {t("Log")}
                  </a>
                </span>
              </li>
            ))}
          </ul>
          {waiting.length > MAX_WAITING && <p><a class="row person-link" href={href("/dates")}>{tn("and {count} more", "and {count} more", waiting.length - MAX_WAITING)}</a></p>}
        </section>
      )}
    </Page>
  );
}

// For accounts from before there was this preference: it is off for them until they say otherwise. Asked once.
function RemindersOffer() {
  const account = useAccount();
  const key = `draft ${account.id} reminders offered`; // removed with the drafts when the account leaves this browser
  const [isAsked, setAsked] = useState(localStorage.getItem(key) !== null);
  const [problem, setProblem] = useState<Problem | null>(null);
  if (isAsked || account.settings.value.dateReminderDefault !== "none") return null;
  const answer = async (isWanted: boolean) => {
    try {
      if (isWanted) await connection.ask("PUT", "/api/user/date-reminder-default", { dateReminderDefault: "birthdays" });
    } catch (error) {
      return setProblem(problemOf(error));
    }
    localStorage.setItem(key, "1");
    setAsked(true);
    account.syncer.syncNow();
  };
  return (
    <section class="banner" aria-label={t("Reminders")}>
      <p>{t("You are not reminded of imported birthdays.")}</p>
      <p class="row">
        <button class="main" onClick={() => void answer(true)}>{t("Remind me")}</button>
        <button onClick={() => void answer(false)}>{t("No")}</button>
      </p>
      <ProblemNote problem={problem} />
    </section>
  );
}

interface Decisions {
  duplicates: number;
  imports: number;
  conflicts: number;
  suggestions: number;
}

// What waits for a decision at the service, in one request. Offline it is not shown.
function useDecisions(): [Remote<Decisions>, () => Promise<void>] {
  const [found, reload] = useRemote<Decisions>("decisions", async (signal) => {
    const paths = ["/api/people/duplicates", "/api/carddav/pending-count", "/api/carddav/conflicts", "/api/relationship-suggestions"];
    const operations = paths.map((path) => ({ method: "GET", path }));
    const { results } = await connection.ask("POST", "/api/batch", { operations }, { signal });
    const [duplicates, imports, conflicts, suggestions] = bodiesOf(results);
    return {
      duplicates: duplicates["groups"]?.length ?? 0,
      imports: imports["count"] ?? 0,
      conflicts: conflicts["conflicts"]?.length ?? 0,
      suggestions: suggestions["suggestions"]?.length ?? 0,
    };
  });
  return [found.value, reload];
}
