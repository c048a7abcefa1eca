// What waits in a share, on one screen: who comes, each with the faces side by side; what others have asked; what was changed in
// two places. What is proposed is taken with one key.
import { useEffect, useRef, useState } from "preact/hooks";
import { RefusedError } from "contacts-client";
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { useForm } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { giveAnswer, readAnew, sendAndTell, withoutAnswered } from "./answers.ts";
import { Differences } from "./Differences.tsx";
import { Newcomer } from "./Newcomer.tsx";
import { Question } from "./Question.tsx";
import { type Choice, isNewcomer, itemsOf, proposalOf, readWaiting, type Waiting } from "./review.ts";
import type { Share } from "./shares.ts";
import { Skipped } from "./Skipped.tsx";
import { useKept } from "./useKept.ts";
import "../cleanup/cleanup.css";
import "./sharing.css";

const STEP = 50;

export default function ReviewPage({ params }: { params: Record<string, string> }) {
  const account = useAccount();
  const share = account.shares.byId.value.get(params["id"]!);
  if (share) return <Review share={share} />;
  const isReading = account.sync.value.phase === "syncing";
  return (
    <Page title={t("To decide")} back="/shares">
      <p aria-busy={isReading}>{isReading ? t("Your account is still being read.") : t("You have left it, or it has ended. The people are still with you.")}</p>
    </Page>
  );
}

function Review({ share }: { share: Share }) {
  const account = useAccount();
  const { id, name } = share;
  const [{ data, problem }, reload] = useKept(`waiting ${id}`, (signal) => readWaiting(id, signal));
  const conflicts = useAll("shareConflict").value?.filter(({ shareId }) => shareId === id) ?? [];
  const refresh = () => readAnew(reload);
  useEffect(() => void refresh(), [share]);
  useEffect(() => () => void sendAndTell(account, true), [account]);
  const rows = data && withoutAnswered(account, data, ({ sharedId }) => sharedId);
  const newcomers = rows?.filter(isNewcomer) ?? [];
  const questions = rows?.filter((row) => !isNewcomer(row)) ?? [];
  const differences = withoutAnswered(account, conflicts, (each) => each.id);
  const keptHere = account.answers.value.filter(({ path, about }) => path.includes(id) || conflicts.some((each) => about.includes(each.id)));
  const isOffline = account.sync.value.phase === "offline";
  const page = useRef<HTMLDivElement>(null);
  useRowKeys(page);
  return (
    <Page title={t("To decide in “{name}”", { name })} back={`/shares/${id}`} width="form" heading={<>{t("To decide")} <span class="soft block small"><bdi>{name}</bdi></span></>}>
      <div ref={page} class="stack share-review">
        {isOffline && keptHere.length > 0 && <p class="banner warning">{tn("{count} answer is kept here. It goes when there is a network.", "{count} answers are kept here. They go when there is a network.", keptHere.length)}</p>}
        <ProblemNote problem={data || isOffline ? null : problem} onRetry={() => void reload()} />
        {!data && isOffline && <p class="banner warning">{t("Who waits was not read here yet, and needs a network.")}</p>}
        {!data && !problem && <p aria-busy="true" />}
        {data && newcomers.length + questions.length + differences.length === 0 && (
          <Empty kind="tie" title={t("Nothing waits")}>
            <p>{t("All that is shared is where it belongs.")}</p>
          </Empty>
        )}
        {questions.length > 0 && (
          <section class="section" aria-label={t("Asked by others")}>
            <header><h2>{t("Asked by others")}</h2></header>
            <ul class="stack tight">{questions.map((row) => <Question key={row.sharedId} share={share} row={row} />)}</ul>
          </section>
        )}
        <Differences conflicts={differences} />
        {data && newcomers.length > 0 && <Newcomers share={share} rows={newcomers} onDone={refresh} />}
        <Skipped share={share} />
      </div>
    </Page>
  );
}

// The draft has what differs from the proposals.
function Newcomers({ share, rows, onDone }: { share: Share; rows: Waiting[]; onDone: () => Promise<void> }) {
  const account = useAccount();
  const form = useForm<{ choices: Record<string, Choice> }>(`${account.id} review ${share.id}`, () => ({ choices: {} }));
  const { choices } = form.values.value;
  const [shown, setShown] = useState(STEP);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const choiceOf = (row: Waiting) => choices[row.sharedId] ?? proposalOf(row);
  const choose = (row: Waiting, choice: Choice) => form.set("choices", { ...form.values.peek().choices, [row.sharedId]: choice });
  const chosen = rows.filter((row) => choiceOf(row));
  const open = rows.length - chosen.length;
  const isFirst = rows.some(({ reason }) => reason === "proposed");
  const finish = async () => {
    if (isBusy || chosen.length === 0) return;
    setBusy(true);
    setProblem(null);
    try {
      for (const body of itemsOf(rows, choiceOf)) {
        const sent = await giveAnswer(account, { path: `/api/shares/${share.id}/waiting`, body, about: (body.items ?? []).map(({ sharedId }) => sharedId), text: tn("{count} answer", "{count} answers", body.items?.length ?? 0) });
        if (!sent) toast(t("Kept here. It goes when there is a network."));
        else if (sent["errors"]?.length) setProblem({ text: sent["errors"].map(({ error }: { error: string }) => error).join(" "), fields: {}, code: undefined });
      }
      form.set("choices", {});
      form.end();
    } catch (error) {
      setProblem(problemOf(error));
      if (!(error instanceof RefusedError)) throw error;
    }
    setBusy(false);
    await onDone();
  };
  const act = useRef(finish);
  act.current = finish;
  useKeys([{ key: "Enter", label: t("Take all as they stand"), act: () => void act.current() }]);
  // Those that nobody can tell first, then those who are here, then new ones.
  const sorted = rows.toSorted((one, other) => rank(one) - rank(other));
  return (
    <section class="section" aria-label={t("Who comes")}>
      <header>
        <h2>{t("Who comes")}</h2>
        <span class="badge quiet">{rows.length}</span>
      </header>
      {isFirst && <p class="soft">{t("Here is who the others have, and whom of yours they seem to be. Nobody comes, and nobody of yours goes out, before you say so.")}</p>}
      <ProblemNote problem={problem} />
      <ul class="share-newcomers">
        {sorted.slice(0, shown).map((row) => (
          <Newcomer key={row.sharedId} row={row} choice={choiceOf(row)} onChoice={(choice) => choose(row, choice)} />
        ))}
      </ul>
      {rows.length > shown && <p><button onClick={() => setShown(shown + STEP)}>{tn("Show {count} more", "Show {count} more", Math.min(STEP, rows.length - shown))}</button></p>}
      <div class="decision-bar no-print">
        <span class={`soft small decision-note ${open > 0 ? "share-open" : ""}`}>
          {open > 0 ? tn("{count} has no answer yet, and goes on waiting.", "{count} have no answer yet, and go on waiting.", open) : t("Nothing that you have is written over.")}
        </span>
        <button class="main" disabled={isBusy || chosen.length === 0} onClick={() => void finish()}>
          <Icon name="check" size={18} />
          {tn("Take it as it stands", "Take all {count} as they stand", chosen.length)} <kbd aria-hidden="true">⏎</kbd>
        </button>
      </div>
    </section>
  );
}

function rank({ reason, personId }: Waiting): number {
  return reason === "unsure" ? 0 : personId ? 1 : 2;
}

// j and k go from row to row, 1 to 4 press what the row offers, of several fields that of each.
function useRowKeys(page: { current: HTMLElement | null }): void {
  const rows = () => [...(page.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
  const at = () => rows().findIndex((row) => row.contains(document.activeElement));
  const go = (step: number) => {
    const all = rows();
    const next = all[Math.min(all.length - 1, Math.max(0, at() + step))];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  };
  const press = (key: string) => rows()[Math.max(0, at())]?.querySelectorAll<HTMLElement>(`[data-key="${key}"]`).forEach((each) => each.click());
  useKeys([
    { key: "j", label: t("The next one"), act: () => go(1) },
    { key: "k", label: t("The one before"), act: () => go(-1) },
    ...["1", "2", "3", "4"].map((key) => ({ key, label: t("The answer with this number"), act: () => press(key) })),
  ]);
}
