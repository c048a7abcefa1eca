// For Today: files that wait, imports that run, and the end of those that were not watched.
import { useEffect } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { bodiesOf, useRemote } from "../../store/remote.ts";
import { jobs, readToTell, receiptPath, tell, toTell } from "./jobs.ts";
import { KeptNote } from "./KeptNote.tsx";

const AGAIN_MILLISECONDS = 3_000;

export function ImportNews() {
  const account = useAccount();
  useEffect(() => readToTell(account), [account]);
  return (
    <>
      <KeptNote account={account} />
      {toTell.value.length > 0 && <Told key={toTell.value.join()} ids={toTell.value} />}
    </>
  );
}

function Told({ ids }: { ids: string[] }) {
  const account = useAccount();
  const open = jobs.value.filter(({ id, receipt, problem, isLost }) => ids.includes(id) && !receipt && !problem && !isLost);
  const [found, reload] = useRemote(`told ${ids} ${open.length}`, async (signal) => {
    const operations = ids.map((id) => ({ method: "GET", path: `/api/imports/${id}` }));
    const { results } = await connection.ask("POST", "/api/batch", { operations }, { signal });
    return bodiesOf(results).filter(({ id }) => id) as { state: string; done: number; total: number; imported: number; endedAt: string | null }[];
  });
  const states = found.value.data;
  const isRunning = open.length > 0 || Boolean(states?.some(({ state }) => state === "running"));
  useEffect(() => {
    if (!isRunning) return;
    const timer = setTimeout(() => void reload(), AGAIN_MILLISECONDS);
    return () => clearTimeout(timer);
  });
  if (!states || (states.length === 0 && !isRunning)) return null;
  const sum = (name: "done" | "total" | "imported") => states.reduce((total, each) => total + each[name], 0);
  const text = isRunning
    ? sum("total") > 0 ? t("People are coming in: {done} of {total}.", { done: formatNumber(sum("done")), total: formatNumber(sum("total")) }) : t("People are coming in.")
    : tn("{count} person came in.", "{count} people came in.", sum("imported"));
  return (
    <section class="banner" aria-label={t("Import")}>
      <p>{text}</p>
      <p class="row">
        <a class="button main" href={href(receiptPath(ids))}>{t("Show")}</a>
        {!isRunning && <button onClick={() => tell(account, [])}>{t("Done")}</button>}
      </p>
    </section>
  );
}
