// Likely duplicates side by side, and what was merged lately, to be taken back.
import { useState } from "preact/hooks";
import { href, navigate } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { formatList, formatNumber, t, tn } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { PersonCard } from "./PersonCard.tsx";
import { comparePath, dismiss, type DuplicateGroup, type Merge, undoMerge } from "./merging.ts";
import "./cleanup.css";

const MAX_NAMES = 4; // in the heading of a group

export default function DuplicatesPage() {
  const [duplicates, reload] = useRemote("duplicates", async (signal) => {
    const { groups } = await connection.ask("GET", "/api/people/duplicates", undefined, { signal });
    return groups as DuplicateGroup[];
  });
  const { data: groups, problem } = duplicates.value;
  return (
    <Page title={t("Duplicates")} width="wide">
      <ProblemNote problem={problem} onRetry={() => void reload()} />
      {groups === undefined && !problem && <p aria-busy="true" />}
      {groups?.length === 0 && <p class="card">{t("Nobody seems to be here twice.")}</p>}
      {groups?.map((group) => <Group key={group.people.map(({ id }) => id).join()} group={group} onDone={reload} />)}
      <MergeOthers />
      <Merges />
    </Page>
  );
}

function Group({ group: { people, similarity }, onDone }: { group: DuplicateGroup; onDone: () => Promise<void> }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const names = namesOf(people);
  const separate = async () => {
    setBusy(true);
    try {
      await dismiss(people);
      await onDone();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const [first] = people;
  const label = people.length === 2 ? t("Compare and merge") : t("Compare with the first");
  return (
    <section class="card stack" aria-label={names}>
      <div class="row apart">
        <h2>
          <bdi>{names}</bdi>
        </h2>
        <span class="soft small">{t("{percent} % alike", { percent: formatNumber(Math.round(similarity * 100)) })}</span>
      </div>
      <ul class="side-by-side">
        {people.map((person) => (
          <li key={person.id} class="stack tight">
            <PersonCard {...person} />
            {person !== first && (
              <div>
                <a class="button main" href={href(comparePath(first!.id, person.id))} aria-label={`${label}: ${person.name}`}>
                  {label}
                </a>
              </div>
            )}
          </li>
        ))}
      </ul>
      <ProblemNote problem={problem} />
      <div>
        <button disabled={isBusy} onClick={() => void separate()} aria-label={`${t("They are different people")}: ${names}`}>
          {t("They are different people")}
        </button>
      </div>
    </section>
  );
}

// All, or the first ones of many: a name that many have would fill the screen.
function namesOf(people: DuplicateGroup["people"]): string {
  const names = people.map(({ name }) => name);
  const more = names.length - MAX_NAMES;
  return formatList(more > 1 ? [...names.slice(0, MAX_NAMES), tn("{count} more", "{count} more", more)] : names);
}

function MergeOthers() {
  const [ids, setIds] = useState<string[]>([]);
  const [one, other] = ids;
  return (
    <section class="card stack tight">
      <h2>{t("Two others who are one")}</h2>
      <PersonPicker label={t("Who")} ids={ids} onIds={(chosen) => setIds(chosen.slice(-2))} />
      <div>
        <button disabled={!other} onClick={() => navigate(comparePath(one!, other!))}>
          {t("Compare")}
        </button>
      </div>
    </section>
  );
}

function Merges() {
  const account = useAccount();
  const [found, reload] = useRemote("merges", async (signal) => (await connection.ask("GET", "/api/people/merges", undefined, { signal }))["merges"] as Merge[]);
  const merges = found.value.data ?? [];
  if (merges.length === 0) return null;
  return (
    <section class="card stack tight">
      <h2>{t("Merged lately")}</h2>
      <ul class="plain-lines">
        {merges.map(({ mergeId, primary, secondary, mergedAt, undoable }) => (
          <li key={mergeId} class="row apart">
            <span>
              {primary ? (
                <a href={href(`/people/${primary.id}`)}>
                  <bdi>{primary.name}</bdi>
                </a>
              ) : (
                t("Somebody who was removed")
              )}{" "}
              <span class="soft small">
                {secondary && t("with what {name} had", { name: secondary.name })} · {timeInWords(mergedAt, account.settings.value.timezone)}
              </span>
            </span>
            {undoable ? (
              <button
                aria-label={`${t("Take back")}: ${primary?.name ?? ""}`}
                onClick={async () => {
                  await undoMerge(account, mergeId);
                  await reload();
                }}
              >
                {t("Take back")}
              </button>
            ) : (
              <span class="soft small">{t("cannot be taken back any more")}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
