// Likely duplicates: the pairs at the left, one of them to be decided at the right; then the next one comes.
import { useEffect, useMemo, useState } from "preact/hooks";
import { place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { isDesk } from "../../ui/media.ts";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { VirtualList } from "../../ui/VirtualList.tsx";
import { Decision } from "./Decision.tsx";
import { MergeOthers, Merges } from "./Merges.tsx";
import { afterJoin, isChain, keyOf, type Member, pairsOf, readWaiting, reasonsOf, type Waiting, } from "./pairs.ts";
import "./cleanup.css";

const ROW_HEIGHT = 64;
const PAIR = "pair"; // in the address
const LIST = "list"; // in its place: on a narrow screen the list stands alone

export default function DuplicatesPage() {
  const account = useAccount();
  const [found, reload] = useRemote("duplicates", readWaiting);
  const { data, problem: unread } = found.value;
  const [rows, setRows] = useState<Waiting[] | undefined>(undefined);
  const [joined, setJoined] = useState(0);
  useEffect(() => setRows(data), [data]);
  const wanted = place.value.query.get(PAIR);
  const isList = wanted === LIST;
  const at = Math.max(0, rows?.findIndex((row) => isOf(row, wanted)) ?? 0);
  const current = rows?.[at];
  const problem = useChain(current, (pairs) => setRows((before) => before?.flatMap((row) => (row === current ? pairs : [row]))));
  const show = (row: Waiting | undefined) => setQuery({ [PAIR]: row ? keyOf(row) : null });
  // The row after the decided one takes its place; after the last one the first comes.
  const go = (left: Waiting[], index: number) => {
    setRows(left);
    show(left[index < left.length ? index : 0]);
  };
  const answers = {
    onJoined: async (gone: string, into: Member) => {
      setJoined((count) => count + 1);
      const left = await afterJoin(rows!, gone, into, at).catch(() => rows!.filter((row) => row !== current));
      go(left, at);
    },
    onTwo: () => go(rows!.filter((row) => row !== current), at),
    onLater: () => go([...rows!.filter((row) => row !== current), current!], at),
    onUndone: () => {
      setJoined((count) => count + 1);
      return reload();
    },
  };
  const isOffline = account.sync.value.phase === "offline";
  const isTidy = rows?.length === 0;
  return (
    <div class={`duplicates ${isTidy ? "with-pair tidy" : isList ? "with-list" : "with-pair"}`}>
      <section class="duplicates-list list-pane pane" aria-label={t("Pairs")}>
        <header class="row apart nowrap">
          {isList && !isDesk.value ? <h1>{t("Duplicates")}</h1> : <h2>{t("Duplicates")}</h2>}
          {rows && rows.length > 0 && <span class="badge">{formatNumber(rows.length)}</span>}
        </header>
        {rows && rows.length > 0 && (
          <VirtualList
            label={t("Pairs")}
            items={rows}
            rowHeight={ROW_HEIGHT}
            keyOf={keyOf}
            textOf={({ people: [first] }) => first!.name.toLowerCase()}
            onOpen={show}
            render={(row) => <Row row={row} isChosen={row === current && !isList} onOpen={() => show(row)} />}
          />
        )}
      </section>
      <div class="duplicates-pair pane">
        <Page title={t("Duplicates")} heading={isTidy || !rows ? t("Duplicates") : t("Is this one person?")} actions={rows && rows.length > 0 && <Position at={at} of={rows.length} />}>
          <ProblemNote problem={isOffline ? null : unread ?? problem} onRetry={() => void reload()} />
          {isOffline && !rows && <p class="banner warning">{t("Duplicates are looked for by the service, which needs a network.")}</p>}
          {!rows && !unread && !isOffline && <Looking />}
          {isTidy && (
            <div class="empty">
              <span class="tile kind-touch"><Icon name="check" /></span>
              <h2>{t("All tidy")}</h2>
              <p>{t("Nobody seems to be here twice.")}</p>
            </div>
          )}
          {current && !isChain(current) && <Decision ids={[current.people[0]!.id, current.people[1]!.id]} {...answers} />}
          {current && isChain(current) && !problem && <p aria-busy="true" />}
          <details class="duplicates-more" open={isTidy}>
            <summary>{t("Joined lately, and two others")}</summary>
            <div class="stack">
              <Merges revision={joined} onUndone={answers.onUndone} />
              <MergeOthers />
            </div>
          </details>
        </Page>
      </div>
    </div>
  );
}

// A chain whose turn it is becomes its pairs, those most alike first.
function useChain(current: Waiting | undefined, onPairs: (pairs: Waiting[]) => void): Problem | null {
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    setProblem(null);
    if (!current || !isChain(current)) return;
    let isWanted = true;
    pairsOf(current).then(
      (pairs) => isWanted && onPairs(pairs),
      (error: unknown) => isWanted && setProblem(problemOf(error)),
    );
    return () => void (isWanted = false);
  }, [current]);
  return problem;
}

// Whether the row is the pair of the address, or a chain that has it.
function isOf(row: Waiting, wanted: string | null): boolean {
  if (!wanted) return false;
  if (keyOf(row) === wanted) return true;
  return isChain(row) && wanted.split(".").every((id) => row.people.some((person) => person.id === id));
}

function Position({ at, of }: { at: number; of: number }) {
  return (
    <>
      <button class="button plain icon duplicates-back" aria-label={t("All pairs")} title={t("All pairs")} onClick={() => setQuery({ [PAIR]: LIST })}>
        <Icon name="menu" />
      </button>
      <span class="soft small">{t("{at} of {count}", { at: formatNumber(at + 1), count: formatNumber(of) })}</span>
    </>
  );
}

// The service takes a second or two for thousands of people.
function Looking() {
  return (
    <p class="soft" role="status" aria-busy="true">
      {t("Looking for people who are here twice …")}
    </p>
  );
}

function Row({ row, isChosen, onOpen }: { row: Waiting; isChosen: boolean; onOpen: () => void }) {
  const account = useAccount();
  const [first, second] = row.people.map(({ id, name }) => account.person(id) ?? { id, name, photo: null });
  const why = useMemo(
    () => (isChain(row) ? tn("{count} who are alike", "{count} who are alike", row.people.length) : reasonsOf(row, account.person(first!.id), account.person(second!.id)).join(" · ")),
    [row, account.peopleVersion.value],
  );
  return (
    <span role="gridcell" class="duplicates-cell">
      <button class="duplicates-row" tabIndex={-1} aria-pressed={isChosen} onClick={onOpen}>
        <span class="pile">
          <Avatar person={first!} />
          <Avatar person={second!} />
        </span>
        <span class="duplicates-text">
          <bdi class="cut">{first!.name}</bdi>
          <span class="soft small cut">{why}</span>
        </span>
      </button>
    </span>
  );
}
