// One import, or those of several files together: how far it is, then what came in and what is to be looked at.
import { useEffect } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { bodiesOf, useAttempt, useRemote } from "../../store/remote.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { setDateReminders } from "../people/actions.ts";
import type { Receipt, Result } from "./files.ts";
import { jobs, tell, toTell } from "./jobs.ts";
import { LookAt } from "./LookAt.tsx";
import { namesakesOf } from "./namesakes.ts";
import { undoImports } from "./undo.ts";
import { attentionOf } from "./words.ts";
import "./imports.css";

const AGAIN_MILLISECONDS = 1_000;
const FACES = 7;

// What GET /api/imports/{id} answers: the receipt as long as it is kept, what is in the list as long as there is one.
interface Remote extends Partial<Receipt> {
  id: string;
  state: "running" | "done" | "undone";
  done: number;
  total: number;
  endedAt: string | null;
  imported: number;
  updated: number;
  skipped: number;
  errors: number;
}

export default function ReceiptPage({ params }: { params: Record<string, string> }) {
  const account = useAccount();
  const ids = params["id"]!.split(",");
  const mine = jobs.value.filter(({ id }) => ids.includes(id));
  const open = mine.filter(({ receipt, problem, isLost }) => !receipt && !problem && !isLost);
  const [found, reload] = useRemote(`imports ${ids} ${open.length}`, async (signal) => {
    if (open.length) return [];
    const operations = ids.map((id) => ({ method: "GET", path: `/api/imports/${id}` }));
    const { results } = await connection.ask("POST", "/api/batch", { operations }, { signal });
    return bodiesOf(results).filter(({ id }) => id) as Remote[];
  });
  const { data, problem } = found.value;
  const running = (data ?? []).filter(({ state, endedAt }) => state === "running" && !endedAt);
  useEffect(() => {
    if (running.length === 0) return;
    const timer = setTimeout(() => void reload(), AGAIN_MILLISECONDS);
    return () => clearTimeout(timer);
  });
  const isEnded = open.length === 0 && data !== undefined && running.length === 0;
  useEffect(() => {
    if (!isEnded) return;
    account.syncer.syncNow();
    if (toTell.peek().some((id) => ids.includes(id))) tell(account, []);
  }, [isEnded]);
  const [refused, attempt] = useAttempt(reload);
  if (open.length > 0 || running.length > 0) return <Running names={mine.map(({ name }) => name)} states={[...open.map(({ progress }) => progress), ...running]} />;
  // Of an import that brought nothing nothing is kept: this tab has its receipt.
  const parts = ids.flatMap((id): (Partial<Receipt> & Pick<Remote, "imported" | "updated" | "skipped" | "errors"> & { importId?: string | null; state?: string })[] => {
    const remote = data?.find((each) => each.id === id);
    const own = mine.find((job) => job.id === id)?.receipt;
    return remote ? [{ ...remote, importId: id }] : own ? [own] : [];
  });
  const sum = (name: "imported" | "updated" | "skipped" | "birthdays" | "reminders") => parts.reduce((total, part) => total + (part[name] ?? 0), 0);
  const results = parts.flatMap(({ results }) => results ?? []);
  const importIds = parts.flatMap(({ importId, state }) => (importId && state !== "undone" ? [importId] : []));
  const isUndone = parts.length > 0 && parts.every(({ state }) => state === "undone");
  const failed = mine.flatMap(({ name, problem }) => (problem ? [{ name, problem }] : []));
  if (!data && !problem && parts.length === 0) return <Page title={t("Bring people in")} back="/import" width="form"><p aria-busy="true" /></Page>;
  if (parts.length === 0 && failed.length === 0) return <Nothing problem={problem} lost={mine.some(({ isLost }) => isLost)} onRetry={() => void reload()} />;
  const count = sum("imported");
  const title = isUndone ? t("This import was undone") : count === 0 && sum("updated") > 0 ? tn("{count} person was completed", "{count} people were completed", sum("updated")) : tn("{count} person came in", "{count} people came in", count);
  return (
    <Page title={title} back="/import" width="form">
      <section class="card receipt">
        {!isUndone && failed.length === 0 && <span class="done-mark"><Icon name="check" size={30} /></span>}
        <p class="soft">{sentences({ updated: count ? sum("updated") : 0, skipped: sum("skipped"), birthdays: sum("birthdays"), reminders: sum("reminders"), isKnown: results.length > 0 })}</p>
        {importIds.length > 0 && sum("birthdays") > 0 && sum("reminders") === 0 && <RemindMe results={results} />}
        <Faces results={results} />
        <div class="row">
          {importIds.length > 0 && <a class="button main" href={href(`/people?import=${importIds.join(",")}`)}>{t("To the people")}</a>}
          {importIds.length > 0 && <button onClick={() => void attempt(() => undoImports(account, importIds))}>{t("Undo the import")}</button>}
          {importIds.length === 0 && <a class="button main" href={href("/import")}>{t("Another file")}</a>}
        </div>
        <ProblemNote problem={refused ?? problem} />
        {failed.map(({ name, problem }) => <ProblemNote key={name} problem={{ ...problem, text: `${name}: ${problem.text}` }} />)}
      </section>
      <LookAt attention={attentionOf(results)} namesakes={namesakesOf(account, isUndone ? [] : results)} />
      {!isUndone && importIds.length > 0 && <WhatNow results={results} />}
    </Page>
  );
}

function sentences({ updated, skipped, birthdays, reminders, isKnown }: { updated: number; skipped: number; birthdays: number; reminders: number; isKnown: boolean }): string {
  return [
    updated > 0 && tn("{count} that you had was completed.", "{count} that you had were completed.", updated),
    skipped > 0 && tn("{count} was here already.", "{count} were here already.", skipped),
    reminders > 0 ? tn("{count} day will be remembered.", "{count} days will be remembered.", reminders) : birthdays > 0 && tn("{count} birthday, without a reminder.", "{count} birthdays, without reminders.", birthdays),
    !isKnown && t("Details are kept for thirty days."),
  ].filter(Boolean).join(" ");
}

function Running({ names, states }: { names: string[]; states: ({ done: number; total: number } | null)[] }) {
  const known = states.filter((each) => each !== null);
  const done = known.reduce((sum, each) => sum + each.done, 0);
  const total = known.reduce((sum, each) => sum + each.total, 0);
  return (
    <Page title={t("People are coming in")} back="/import" width="form">
      <section class="card receipt" role="status">
        <p class="receipt-title">{total > 0 ? t("{done} of {total}", { done: formatNumber(done), total: formatNumber(total) }) : t("Reading the file")}</p>
        <progress aria-label={t("How far it is")} max={total || 1} {...(total > 0 && { value: done })} />
        <p class="soft"><bdi>{names.join(", ")}</bdi></p>
        <p class="soft small">{t("You may go on meanwhile: Today says when it has ended.")}</p>
      </section>
    </Page>
  );
}

function Nothing({ problem, lost, onRetry }: { problem: ReturnType<typeof useAttempt>[0]; lost: boolean; onRetry: () => void }) {
  return (
    <Page title={t("Bring people in")} back="/import" width="form">
      {problem ? <ProblemNote problem={problem} onRetry={onRetry} /> : <p class="banner">{lost ? t("The file did not arrive. Bring it again: nobody comes in twice.") : t("Of this import nothing is known any more.")}</p>}
      <p><a class="button main" href={href("/import")}>{t("Another file")}</a></p>
    </Page>
  );
}

// Of birthdays that came in without a reminder, once they are here.
function RemindMe({ results }: { results: Result[] }) {
  const account = useAccount();
  const dates = useAll("importantDate").value ?? [];
  const ids = new Set(results.flatMap(({ personId }) => personId ?? []));
  if (!dates.some(({ personId, type, reminderEnabled }) => type === "BIRTHDAY" && !reminderEnabled && ids.has(personId))) return null;
  return <p><button class="tint" onClick={() => void setDateReminders(account, [...ids], "BIRTHDAY", true)}>{t("Remind me of them on the day")}</button></p>;
}

function Faces({ results }: { results: Result[] }) {
  const account = useAccount();
  const people = results.filter(({ status, personId }) => personId && (status === "imported" || status === "updated"));
  if (people.length < 2) return null;
  return (
    <span class="pile" aria-hidden="true">
      {people.slice(0, FACES).map(({ personId, name }) => <Avatar key={personId} person={account.person(personId!) ?? { id: personId!, name, photo: null }} />)}
      {people.length > FACES && <span class="avatar more">+{formatNumber(people.length - FACES)}</span>}
    </span>
  );
}

function WhatNow({ results }: { results: Result[] }) {
  const account = useAccount();
  const lonely = results.filter(({ status, personId }) => status === "imported" && personId && account.person(personId)?.groupIds.length === 0).length;
  return (
    <section class="section">
      <header><h2>{t("What now")}</h2></header>
      <div class="sources">
        <Next path="/devices" kind="touch" icon="device" title={t("Put them on your phone")} text={t("Names on incoming calls")} />
        <Next path="/duplicates" kind="note" icon="copy" title={t("See who is here twice")} text={t("And join them")} />
        {lonely > 0 && <Next path="/people?group=none" kind="tie" icon="group" title={tn("Sort {count} without a group", "Sort {count} without a group", lonely)} text={t("Tick them, and choose a group")} />}
      </div>
    </section>
  );
}

function Next({ path, kind, icon, title, text }: { path: string; kind: string; icon: "copy" | "group" | "device"; title: string; text: string }) {
  return (
    <a class="source" href={href(path)}>
      <span class={`tile kind-${kind}`}><Icon name={icon} size={18} /></span>
      <span class="grow"><strong>{title}</strong><span class="soft small block">{text}</span></span>
      <Icon name="next" size={16} />
    </a>
  );
}
