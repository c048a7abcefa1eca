// Letters: one for all who live together, of everybody or of some groups; as a list, a file, or labels to print.
import type { components } from "contacts-client";
import { href, place, setQuery } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { SelectField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { GroupChoice } from "../groups/GroupChoice.tsx";
import "./letters.css";

type Household = components["schemas"]["Household"];

// The sheets of people/letters/sheets.py, by the maker's own names.
const SHEETS: [string, string][] = [
  ["l7160", "Avery L7160 · A4 · 21"],
  ["l7163", "Avery L7163 · A4 · 14"],
  ["l7159", "Avery L7159 · A4 · 24"],
  ["5160", "Avery 5160 · Letter · 30"],
  ["5163", "Avery 5163 · Letter · 10"],
];
const SHOWN = 300;

export default function LettersPage() {
  const { query } = place.value;
  const chosen = query.get("groups") ?? "";
  const sheet = query.get("sheet") ?? SHEETS[0]![0];
  const [found, reload] = useRemote(`letters ${chosen}`, async (signal) => (await connection.ask("GET", `/api/people/addresses?groupIds=${chosen}`, undefined, { signal }))["households"] as Household[]);
  const { data, problem } = found.value;
  return (
    <Page title={t("Letters|by post")}>
      <GroupChoice legend={t("To these groups; none chosen: to everybody")} ids={chosen.split(",").filter(Boolean)} onIds={(ids) => setQuery({ groups: ids.join() })} />
      <div class="card row letters-bar">
        <SelectField label={t("Sheet of labels")} value={sheet} options={SHEETS} onValue={(value) => setQuery({ sheet: value })} />
        <a class="button main" href={`/people/labels?groupIds=${chosen}&sheet=${sheet}`} target="_blank">
          <Icon name="print" />
          {t("Print labels")}
        </a>
        <a class="button" href={`/api/people/addresses?groupIds=${chosen}&format=csv`} download>
          {t("Download a table (CSV)")}
        </a>
      </div>
      <ProblemNote problem={problem} onRetry={() => void reload()} />
      <p class="soft small" role="status">
        {data && tn("{count} letter.", "{count} letters.", data.length)} {t("One for all who live together. Who is quiet, has died or has no address gets none.")}
      </p>
      <ul class="letters-list">
        {data?.slice(0, SHOWN).map((household) => (
          <li key={household.personIds[0]} class="card">
            <Envelope household={household} />
          </li>
        ))}
      </ul>
      {data && data.length > SHOWN && <p class="soft small">{t("The first {count} are shown.", { count: formatNumber(SHOWN) })}</p>}
    </Page>
  );
}

function Envelope({ household: { name, lines, personIds } }: { household: Household }) {
  const account = useAccount();
  const people = personIds.flatMap((id) => account.person(id) ?? []);
  const link = (row: (typeof people)[number], text = row.name) => <a href={href(`/people/${row.id}`)}><bdi>{text}</bdi></a>;
  return (
    <>
      <strong>{people.length === 1 ? link(people[0]!, name) : <bdi>{name}</bdi>}</strong>
      {lines.map((line, index) => <bdi key={index} class="block">{line}</bdi>)}
      {people.length > 1 && (
        <span class="small block">
          {people.map((row, index) => (
            <span key={row.id}>
              {index > 0 && " · "}
              {link(row)}
            </span>
          ))}
        </span>
      )}
    </>
  );
}
