// Who was joined lately, to be taken back; and two others who are one, whom nothing has suggested.
import { useState } from "preact/hooks";
import { href, navigate } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { comparePath, type Merge, undoMerge } from "./merging.ts";

export function MergeOthers() {
  const [ids, setIds] = useState<string[]>([]);
  const [one, other] = ids;
  return (
    <section class="section">
      <header>
        <h2>{t("Two others who are one")}</h2>
      </header>
      <div class="card stack tight">
        <PersonPicker label={t("Who")} ids={ids} onIds={(chosen) => setIds(chosen.slice(-2))} />
        <div>
          <button class="button" disabled={!other} onClick={() => navigate(comparePath(one!, other!))}>
            {t("Compare")}
          </button>
        </div>
      </div>
    </section>
  );
}

// `revision` rises when somebody was joined.
export function Merges({ revision, onUndone }: { revision: number; onUndone: () => unknown }) {
  const account = useAccount();
  const [found, reload] = useRemote(`merges ${revision}`, async (signal) => (await connection.ask("GET", "/api/people/merges", undefined, { signal }))["merges"] as Merge[]);
  // What was taken back is as it was.
  const merges = (found.value.data ?? []).filter(({ undoneAt }) => undoneAt === null);
  if (merges.length === 0) return null;
  return (
    <section class="section">
      <header>
        <h2>{t("Joined lately")}</h2>
      </header>
      <ul class="card lines">
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
              <button class="button" aria-label={`${t("Take back")}: ${primary?.name ?? ""}`} onClick={() => void undoMerge(account, mergeId, () => Promise.all([reload(), onUndone()]))}>
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
