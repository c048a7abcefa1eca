// Who changed what in a share, the latest first. A change can be taken back, which is an edit like any other.
import { RefusedError } from "contacts-client";
import { useEffect, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { confirm } from "../../ui/confirm.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { giveAnswer } from "./answers.ts";
import type { Share } from "./shares.ts";
import { useKept } from "./useKept.ts";
import { entryInWords, fieldsInWords, folded, ICONS, type LogEntry } from "./words.ts";

interface LogPart {
  entries: LogEntry[];
  cursor: string | null;
  hasMore: boolean;
}

const PART = 50;

export function Log({ share }: { share: Share }) {
  const account = useAccount();
  const path = `/api/shares/${share.id}/log`;
  const read = (cursor?: string | null, signal?: AbortSignal) => connection.ask("GET", `${path}?limit=${PART}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`, undefined, { signal }) as Promise<unknown> as Promise<LogPart>;
  const [{ data, problem }, reload] = useKept(`log ${share.id}`, (signal) => read(null, signal));
  const [more, setMore] = useState<LogPart[]>([]);
  const [undone, setUndone] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    setMore([]);
    void reload();
  }, [share]);
  const parts = data ? [data, ...more] : [];
  const last = parts.at(-1);
  const undo = async (entry: LogEntry, force: boolean): Promise<void> => {
    try {
      const sent = await giveAnswer(account, { path: `${path}/${entry.id}/undo`, body: force ? { force } : {}, about: [entry.id], text: t("Take back: {what}", { what: entryInWords(entry) }) });
      setUndone(new Set([...undone, entry.id]));
      toast(sent ? t("It is as it was before.") : t("Kept here. It goes when there is a network."));
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== "changed_since") return toast(problemOf(error).text);
      const { fields: changed } = (error.body["params"] ?? {}) as { fields?: string[] };
      const fields = fieldsInWords(changed ?? entry.fields);
      if (await confirm(t("Changed again since then"), t("{fields} was changed once more after that. Set it back all the same?", { fields }), t("Set back"), true)) return undo(entry, true);
    }
  };
  return (
    <section class="section" aria-label={t("What happened")}>
      <header>
        <h2>{t("What happened")}</h2>
      </header>
      <ProblemNote problem={data ? null : problem} onRetry={() => void reload()} />
      {!data && !problem && <p aria-busy="true" />}
      {data && data.entries.length === 0 && <p class="soft">{t("Nothing yet. Who changes what is written here, and can be taken back.")}</p>}
      {parts.some(({ entries }) => entries.length > 0) && (
        <ul class="card flush lines share-log">
          {folded(parts.flatMap(({ entries }) => entries)).map((entry) => (
            <li key={entry.id}>
              <span class={`tile ${entry.action === "taken_out" || entry.action === "removed" ? "kind-danger" : entry.action === "joined" || entry.action === "left" ? "kind-tie" : "kind-accent"}`}>
                <Icon name={ICONS[entry.action]} size={16} />
              </span>
              <span class="share-text">
                {entry.personId && account.person(entry.personId) ? <a class="share-entry" href={href(`/people/${entry.personId}`)}>{entryInWords(entry)}</a> : entryInWords(entry)}
                <span class="soft small block capital">{timeInWords(entry.at, account.settings.value.timezone)}</span>
              </span>
              {entry.undoable && !undone.has(entry.id) && (
                <button class="plain" onClick={() => void undo(entry, false)} aria-label={t("Take back: {what}", { what: entryInWords(entry) })}>
                  {t("Take back")}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {last?.hasMore && (
        <p>
          <button onClick={() => void read(last.cursor).then((part) => setMore([...more, part]), (error: unknown) => toast(problemOf(error).text))}>{t("Show more")}</button>
        </p>
      )}
    </section>
  );
}
