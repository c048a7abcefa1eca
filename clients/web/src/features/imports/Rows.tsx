// The first of those who would come in, and what would happen to each.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatNumber, t } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import type { Result } from "./files.ts";
import { attentionOf, needsLook } from "./words.ts";

const FIRST = 5;
const STEP = 100;
const PARTS = [
  { id: "all", label: "All", has: () => true },
  { id: "here", label: "Already here", has: ({ status }: Result) => status === "updated" || status === "skipped" },
  { id: "look", label: "To look at", has: (result: Result, namesakes: ReadonlyMap<Result, PersonRow>) => needsLook(result) || namesakes.has(result) },
] as const;

export function Rows({ results, namesakes }: { results: Result[]; namesakes: ReadonlyMap<Result, PersonRow> }) {
  const account = useAccount();
  const [part, setPart] = useState<string>("all");
  const [count, setCount] = useState(FIRST);
  const { has } = PARTS.find(({ id }) => id === part)!;
  const found = results.filter((result) => has(result, namesakes));
  return (
    <section class="card flush">
      <div class="row apart rows-head">
        <h2>{t("The first of them")}</h2>
        <div class="segments" role="group" aria-label={t("Which are shown")}>
          {PARTS.map(({ id, label }) => (
            <button key={id} type="button" aria-pressed={part === id} onClick={() => { setPart(id); setCount(FIRST); }}>{t(label)}</button>
          ))}
        </div>
      </div>
      {found.length === 0 && <p class="soft rows-none">{t("Nobody.")}</p>}
      <ul class="lines">
        {found.slice(0, count).map((result, index) => {
          const known = result.personId ? account.person(result.personId) : undefined;
          const name = result.name || t("Entry {number} of the file", { number: result.index + 1 });
          const { single, together } = attentionOf([result]);
          const texts = [...(single[0]?.texts ?? []), ...together.map(({ text }) => text)];
          return (
            <li key={index} class="result">
              <Avatar person={known ?? { id: name, name: result.name || "?", photo: null }} />
              <span class="grow">
                <strong><bdi>{name}</bdi></strong>
                {namesakes.has(result) && <span class="soft small block">{t("Somebody of this name is here already. Afterwards you can join the two.")}</span>}
                {texts.length > 0 && <span class="soft small block">{texts.join(". ")}</span>}
              </span>
              {namesakes.has(result) ? <a class="chip outcome kind-note" href={href(`/people/${namesakes.get(result)!.id}`)}>{t("same person?")}</a> : <Outcome result={result} />}
            </li>
          );
        })}
      </ul>
      {found.length > count && <button class="plain rows-more" onClick={() => setCount(count + STEP)}>{t("Show more ({count})", { count: formatNumber(found.length - count) })}</button>}
    </section>
  );
}

function Outcome({ result }: { result: Result }) {
  switch (result.status) {
    case "imported":
      return <span class="chip outcome kind-touch">{t("new|in a list of people")}</span>;
    case "updated":
      return <span class="chip outcome kind-accent">{t("gets more")}</span>;
    case "skipped":
      return <span class="chip outcome">{t("is here")}</span>;
    default:
      return <span class="chip outcome kind-danger">{t("stays out")}</span>;
  }
}
