// The imports so far, with what became of each; its receipt can be read again.
import type { components } from "contacts-client";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { formatNumber, t } from "../../i18n/index.ts";
import { useAttempt, useRemote } from "../../store/remote.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { KINDS } from "./kinds.ts";
import { undoImports } from "./undo.ts";
import { countsInWords } from "./words.ts";

type Import = components["schemas"]["ContactImport"] & { state?: "running" | "done" | "undone"; done?: number; total?: number };

export function History() {
  const account = useAccount();
  const [found, reload] = useRemote("imports", async (signal) => (await connection.ask("GET", "/api/imports", undefined, { signal }))["imports"] as Import[]);
  const [problem, attempt] = useAttempt(reload);
  const { data } = found.value;
  if (account.sync.value.phase === "offline" && !data) return null;
  return (
    <>
      <ProblemNote problem={problem ?? found.value.problem} onRetry={() => void reload()} />
      {data && data.length > 0 && (
        <section class="section">
          <header><h2>{t("Imports so far")}</h2></header>
          <ul class="card flush lines">
            {data.map((each) => {
              const name = nameOf(each);
              return (
                <li key={each.id} class="import-line">
                  <a class="person-link" href={href(`/import/${each.id}`)}>
                    <strong><bdi>{name}</bdi></strong>
                    <span class="soft small block">{timeInWords(each.createdAt, account.settings.value.timezone)} · {stateInWords(each)}</span>
                  </a>
                  {!each.undoneAt && each.state !== "running" && (
                    <button aria-label={t("Undo the import of {name}", { name })} onClick={() => void attempt(() => undoImports(account, [each.id]))}>
                      {t("Undo")}
                    </button>
                  )}
                </li>
              );
            })}
          </ul>
        </section>
      )}
    </>
  );
}

function nameOf({ fileName, source }: Import): string {
  const kind = KINDS.find(({ id }) => id === source);
  return fileName || (kind ? t(kind.label) : source);
}

function stateInWords(each: Import): string {
  if (each.undoneAt) return t("undone");
  if (each.state === "running") return t("{done} of {total}", { done: formatNumber(each.done ?? 0), total: formatNumber(each.total ?? 0) });
  if (!each.endedAt) return `${countsInWords(each)} · ${t("it broke off: bring the file again")}`;
  return countsInWords(each);
}
