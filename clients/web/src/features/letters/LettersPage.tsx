// Letters: one for all who live together, of everybody, of some groups or of those selected in the list; as a list, a file, or labels to print.
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

interface Sheet {
  name: string;
  text: string; // the maker's own name
  columns: number;
  rows: number;
  paper: "a4" | "letter";
}

// The sheets of people/letters/sheets.py.
const SHEETS: Sheet[] = [
  { name: "l7160", text: "Avery L7160 · A4 · 21", columns: 3, rows: 7, paper: "a4" },
  { name: "l7163", text: "Avery L7163 · A4 · 14", columns: 2, rows: 7, paper: "a4" },
  { name: "l7159", text: "Avery L7159 · A4 · 24", columns: 3, rows: 8, paper: "a4" },
  { name: "5160", text: "Avery 5160 · Letter · 30", columns: 3, rows: 10, paper: "letter" },
  { name: "5163", text: "Avery 5163 · Letter · 10", columns: 2, rows: 5, paper: "letter" },
];
const SHOWN = 300;

export default function LettersPage() {
  const { query } = place.value;
  const chosen = query.get("groups") ?? "";
  const selected = query.get("people") ?? "";
  const whose = `groupIds=${chosen}&personIds=${selected}`;
  const sheet = SHEETS.find(({ name }) => name === query.get("sheet")) ?? SHEETS[0]!;
  const [found, reload] = useRemote(`letters ${whose}`, async (signal) => (await connection.ask("GET", `/api/people/addresses?${whose}`, undefined, { signal }))["households"] as Household[]);
  const { data, problem } = found.value;
  return (
    <Page title={t("Letters|by post")}>
      <div class="two no-print">
        <div class="stack">
          {selected ? (
            <p class="banner">
              {tn("To {count} selected person", "To {count} selected people", selected.split(",").length)}{" "}
              <button onClick={() => setQuery({ people: null })}>{t("To everybody")}</button>
            </p>
          ) : (
            <GroupChoice legend={t("To these groups; none chosen: to everybody")} ids={chosen.split(",").filter(Boolean)} onIds={(ids) => setQuery({ groups: ids.join() })} />
          )}
          <div class="card row letters-bar">
            <SelectField label={t("Sheet of labels")} value={sheet.name} options={SHEETS.map(({ name, text }) => [name, text] as const)} onValue={(value) => setQuery({ sheet: value })} />
            <a class="button main" href={`/people/labels?${whose}&sheet=${sheet.name}`} target="_blank">
              <Icon name="print" />
              {t("Print labels")}
            </a>
            <a class="button" href={`/api/people/addresses?${whose}&format=csv`} download>
              {t("Download a table (CSV)")}
            </a>
          </div>
        </div>
        <SheetPreview sheet={sheet} households={data ?? []} />
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

// The first sheet as it comes out of the printer, in small.
function SheetPreview({ sheet: { columns, rows, paper }, households }: { sheet: Sheet; households: Household[] }) {
  const labels = columns * rows;
  return (
    <figure class="letters-preview">
      <div class={`letters-sheet ${paper}`} aria-hidden="true" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`, gridTemplateRows: `repeat(${rows}, minmax(0, 1fr))` }}>
        {households.slice(0, labels).map(({ name, lines, personIds }) => (
          <span key={personIds[0]} class="letters-label">
            <b class="cut">{name}</b>
            {lines.slice(0, 3).map((line, index) => (
              <span key={index} class="cut">
                {line}
              </span>
            ))}
          </span>
        ))}
      </div>
      <figcaption class="soft small">{tn("{count} sheet", "{count} sheets", Math.ceil(households.length / labels))}</figcaption>
    </figure>
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
