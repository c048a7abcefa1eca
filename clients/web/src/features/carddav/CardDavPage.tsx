// The sync with an address book on a CardDAV server: connect, see the plan, sync, and decide what waits for a decision.
import type { components } from "contacts-client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { bodiesOf, useAttempt, useRemote } from "../../store/remote.ts";
import { useAnswerKeys } from "../../ui/answerKeys.ts";
import { confirm } from "../../ui/confirm.tsx";
import { hasDraft } from "../../ui/form.ts";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { describeField, describeValue } from "../sync/describe.ts";
import { SwitchLine } from "../settings/rows.tsx";
import { ConnectionForm, connectionKey } from "./ConnectionForm.tsx";
import { countsInWords, triggerInWords } from "./words.ts";

type Schemas = components["schemas"];

interface Found {
  link: Schemas["ConnectionAnswer"] | null;
  pending: Schemas["PendingImport"][];
  conflicts: Schemas["Conflict"][];
  heldBack: Schemas["HeldBack"][];
  runs: Schemas["Run"][];
}

export default function CardDavPage() {
  const account = useAccount();
  const [found, reload] = useRemote("carddav", async (signal): Promise<Found> => {
    // In one request, in which an account without a connection is no failed one.
    const paths = ["connection", "pending-imports", "conflicts", "held-back", "runs"];
    const operations = paths.map((path) => ({ method: "GET", path: `/api/carddav/${path}` }));
    const { results } = await connection.ask("POST", "/api/batch", { operations }, { signal });
    const [link, pending, conflicts, heldBack, runs] = bodiesOf(results);
    return { link: link.connection ?? null, pending: pending.pendingImports ?? [], conflicts: conflicts.conflicts ?? [], heldBack: heldBack.heldBack ?? [], runs: runs.runs ?? [] };
  });
  const [problem, attempt] = useAttempt(reload, () => account.syncer.syncNow());
  const { data } = found.value;
  return (
    <Page title={t("Address book on a server")} back="/settings" width="form">
      <ProblemNote problem={problem ?? found.value.problem} onRetry={() => void reload()} />
      {data && !data.link && <ConnectionForm link={null} onDone={reload} />}
      {data?.link && <Sync link={data.link} onDone={reload} attempt={attempt} />}
      {data && data.conflicts.length > 0 && <Conflicts conflicts={data.conflicts} attempt={attempt} />}
      {data && data.pending.length > 0 && <Pending pending={data.pending} attempt={attempt} />}
      {data && data.heldBack.length > 0 && <HeldBack cards={data.heldBack} attempt={attempt} />}
      {data && data.runs.length > 0 && <Runs runs={data.runs} attempt={attempt} />}
    </Page>
  );
}

type Attempt = (work: () => Promise<unknown>) => Promise<void>;

interface Outcome {
  isPlan: boolean;
  texts: string[];
  messages: string[];
}

function Sync({ link, onDone, attempt }: { link: Schemas["ConnectionAnswer"]; onDone: () => Promise<void>; attempt: Attempt }) {
  const account = useAccount();
  const { timezone } = account.settings.value;
  const [progress, setProgress] = useState<{ message: string; current: number | null; total: number | null } | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [isChanging, setChanging] = useState(hasDraft(connectionKey(account.id, link)));
  const [problem, setProblem] = useState<Problem | null>(null);
  const run = async (isPlan: boolean) => {
    setProblem(null);
    setOutcome(null);
    setProgress({ message: t("Starting"), current: null, total: null });
    try {
      for await (const { event, data } of connection.events("POST", `/api/carddav/sync?${isPlan ? "dryRun" : "confirm"}=true`)) {
        const body = JSON.parse(data);
        if (event === "progress") setProgress(body);
        if (event === "complete") setOutcome({ isPlan, texts: countsInWords(body), messages: body.errorMessages });
        if (event === "error") setProblem({ text: body.error, fields: {}, code: body.code });
      }
    } catch (error) {
      setProblem(problemOf(error));
    }
    setProgress(null);
    if (!isPlan) account.syncer.syncNow();
    await onDone();
  };
  const disconnect = async () => {
    if (!(await confirm(t("Disconnect the server?"), t("People here and cards there stay. What waits to be imported is forgotten."), t("Disconnect"), true))) return;
    await attempt(() => connection.ask("DELETE", "/api/carddav/connection"));
  };
  const set = (body: object) => attempt(() => connection.ask("PUT", "/api/carddav/connection", body));
  return (
    <>
      <section class="card stack tight">
        <h2>{t("Sync")}</h2>
        <p>
          <bdi>{link.addressBookName ?? link.serverUrl}</bdi> <span class="soft small">{link.username}</span>
          <span class="soft small block">{link.lastSyncAt ? t("Last synced {when}", { when: timeInWords(link.lastSyncAt, timezone) }) : t("Never synced")}</span>
        </p>
        {link.lastError && !problem && <p class="banner warning">{link.lastError}</p>}
        <div class="row">
          <button disabled={progress !== null} onClick={() => void run(true)}>{t("Show what would happen")}</button>
          <button class="main" disabled={progress !== null} onClick={() => void run(false)}>{t("Sync now")}</button>
          {!isChanging && <button disabled={progress !== null} onClick={() => setChanging(true)}>{t("Change the login")}</button>}
          <button class="danger" disabled={progress !== null} onClick={() => void disconnect()}>{t("Disconnect")}</button>
        </div>
        {isChanging && <ConnectionForm link={link} onDone={onDone} onClose={() => setChanging(false)} />}
        <div role="status" class="stack tight">
          {progress && <p>{progress.message} {progress.total ? `${formatNumber(progress.current ?? 0)} / ${formatNumber(progress.total)}` : ""}</p>}
          {outcome && (
            <div class="stack tight">
              <h3>{outcome.isPlan ? t("This would happen") : t("Synced")}</h3>
              {outcome.texts.length === 0 ? <p>{t("Nothing is different.")}</p> : <ul>{outcome.texts.map((text) => <li key={text}>{text}</li>)}</ul>}
              {outcome.messages.map((message) => <p key={message} class="small">{message}</p>)}
            </div>
          )}
        </div>
        <ProblemNote problem={problem} />
      </section>
      <div class="settings">
        <div class="card flush">
          <SwitchLine label={t("Sync by itself")} isOn={link.syncEnabled} onChange={(syncEnabled) => set({ syncEnabled })} />
          <SwitchLine label={t("Send new people to the server")} isOn={link.autoExportNew} onChange={(autoExportNew) => set({ autoExportNew })} />
          <SwitchLine label={t("Import new contacts of the server without asking")} isOn={link.importMode === "auto"} onChange={(isAuto) => set({ importMode: isAuto ? "auto" : "manual" })} />
        </div>
      </div>
    </>
  );
}

function Conflicts({ conflicts, attempt }: { conflicts: Schemas["Conflict"][]; attempt: Attempt }) {
  useAnswerKeys([t("As it is here"), t("As it is on the server")]);
  return (
    <section class="card stack">
      <h2>{t("Changed here and on the server")}</h2>
      {conflicts.map((conflict) => <ConflictForm key={conflict.id} conflict={conflict} attempt={attempt} />)}
    </section>
  );
}

function ConflictForm({ conflict, attempt }: { conflict: Schemas["Conflict"]; attempt: Attempt }) {
  const { id, personId, personName, kind, fields } = conflict;
  const [remote, setRemote] = useState<string[]>([]);
  const resolve = (body: object) => attempt(() => connection.ask("POST", `/api/carddav/conflicts/${id}/resolve`, body));
  const save = () => {
    if (remote.length === 0) return resolve({ resolution: "keep_local" });
    if (remote.length === fields.length) return resolve({ resolution: "keep_remote" });
    // A list that is not named would become that of both sides.
    return resolve({ resolution: "merged", values: Object.fromEntries(fields.map((each) => [each.field, remote.includes(each.field) ? each.remote : each.local])) });
  };
  if (kind !== "fields") {
    return (
      <div class="stack tight" data-decision>
        <h3><a class="plain-link" href={href(`/people/${personId}`)}>{personName}</a></h3>
        <p>{kind === "remote_deleted" ? t("The card is gone from the server.") : t("The person was deleted here, and the card was changed on the server.")}</p>
        <div class="row">
          <button data-key="1" onClick={() => void resolve({ resolution: "keep_local" })} aria-label={`${t("As it is here")}: ${personName}`}>{t("As it is here")}</button>
          <button data-key="2" onClick={() => void resolve({ resolution: "keep_remote" })} aria-label={`${t("As it is on the server")}: ${personName}`}>{t("As it is on the server")}</button>
        </div>
      </div>
    );
  }
  return (
    <form
      class="stack tight"
      data-decision
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h3><a class="plain-link" href={href(`/people/${personId}`)}>{personName}</a></h3>
      {fields.map(({ field, local, remote: theirs }) => (
        <fieldset key={field} class="sides">
          <legend>{describeField("person", field)}</legend>
          <label>
            <input type="radio" name={`${id} ${field}`} data-key="1" checked={!remote.includes(field)} onChange={() => setRemote((before) => before.filter((each) => each !== field))} />
            <span>{t("Here: {value}", { value: describeValue(local) })}</span>
          </label>
          <label>
            <input type="radio" name={`${id} ${field}`} data-key="2" checked={remote.includes(field)} onChange={() => setRemote((before) => [...before, field])} />
            <span>{t("On the server: {value}", { value: describeValue(theirs) })}</span>
          </label>
        </fieldset>
      ))}
      <div><button class="tint" aria-label={t("Keep what is chosen of {name}", { name: personName })}>{t("Keep what is chosen")}</button></div>
    </form>
  );
}

const BATCH = 200;

function Pending({ pending, attempt }: { pending: Schemas["PendingImport"][]; attempt: Attempt }) {
  const take = (rows: Schemas["PendingImport"][]) =>
    attempt(async () => {
      let count = 0;
      for (let at = 0; at < rows.length; at += BATCH) {
        const { imported, errorMessages } = await connection.ask("POST", "/api/carddav/import", { importIds: rows.slice(at, at + BATCH).map(({ id }) => id) });
        count += imported;
        if (errorMessages.length) toast(errorMessages.join(" "));
      }
      toast(tn("{count} contact was imported.", "{count} contacts were imported.", count));
    });
  return (
    <section class="card stack tight">
      <div class="row apart">
        <h2>{t("Only on the server")}</h2>
        <button onClick={() => void take(pending)}>{tn("Import {count}", "Import all {count}", pending.length)}</button>
      </div>
      <ul class="plain-lines">
        {pending.slice(0, BATCH).map((row) => (
          <li key={row.id} class="row apart beside">
            <bdi>{row.displayName}</bdi>
            <button onClick={() => void take([row])} aria-label={`${t("Import it")}: ${row.displayName}`}>{t("Import it")}</button>
          </li>
        ))}
      </ul>
      {pending.length > BATCH && <p class="soft small">{t("The first {count} are shown.", { count: formatNumber(BATCH) })}</p>}
    </section>
  );
}

function HeldBack({ cards, attempt }: { cards: Schemas["HeldBack"][]; attempt: Attempt }) {
  const { settings } = useAccount();
  const retry = (card: Schemas["HeldBack"]) =>
    attempt(async () => {
      await connection.ask("POST", `/api/carddav/held-back/${card.personId}/retry`);
      toast(t("It is tried again now."));
    });
  return (
    <section class="card stack tight">
      <h2>{t("Not sent to the server for now")}</h2>
      <ul class="plain-lines">
        {cards.map((card) => (
          <li key={card.personId} class="row apart beside">
            <span>
              <a class="plain-link" href={href(`/people/${card.personId}`)}>{card.personName}</a>
              <span class="small block">{card.reason}</span>
              <span class="soft small block">{card.nextTryAt ? t("Next attempt {when}", { when: timeInWords(card.nextTryAt, settings.value.timezone) }) : t("Tried again when the person changes.")}</span>
            </span>
            <button onClick={() => void retry(card)} aria-label={`${t("Try again")}: ${card.personName}`}>{t("Try again")}</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Runs({ runs, attempt }: { runs: Schemas["Run"][]; attempt: Attempt }) {
  const { settings } = useAccount();
  const [all, setAll] = useState(false);
  const undo = async (run: Schemas["Run"], when: string) => {
    if (!(await confirm(t("Take the sync of {when} back?", { when }), t("People become what they were before it. The server is not touched, and nothing is synced until you start it again."), t("Take back"), true))) return;
    await attempt(async () => {
      const { restored, kept } = await connection.ask("POST", `/api/carddav/runs/${run.id}/undo`);
      toast([tn("{count} person was put back.", "{count} people were put back.", restored), ...kept.map((each: { personName: string; reason: string }) => `${each.personName}: ${each.reason}`)].join(" "));
    });
  };
  return (
    <section class="card stack tight">
      <h2>{t("What was synced")}</h2>
      <ul class="plain-lines">
        {runs.slice(0, all ? runs.length : 10).map((run) => {
          const when = timeInWords(run.startedAt, settings.value.timezone);
          const changed = run.imported + run.updatedLocally > 0;
          return (
            <li key={run.id} class="row apart beside">
              <span>
                <span class="capital run-time">{when}</span> <span class="soft small">{[triggerInWords(run.trigger), run.dryRun && t("only looked"), run.undone && t("taken back")].filter(Boolean).join(" · ")}</span>
                <span class="small block">{run.error ?? (countsInWords(run).join(", ") || t("Nothing was different."))}</span>
              </span>
              {run.endedAt && !run.dryRun && !run.undone && changed && <button onClick={() => void undo(run, when)} aria-label={t("Take back: {what}", { what: when })}>{t("Take back")}</button>}
            </li>
          );
        })}
      </ul>
      {!all && runs.length > 10 && <div><button onClick={() => setAll(true)}>{t("Show all runs")}</button></div>}
    </section>
  );
}
