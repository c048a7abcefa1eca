// What was deleted, of all kinds: each can be restored as long as the service keeps it, or removed for good.
import type { components } from "contacts-client";
import { useEffect, useRef, useState } from "preact/hooks";
import { place, setQuery } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { formatDay, timeInWords } from "../../i18n/days.ts";
import { formatList, formatNumber, t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { useAttempt, useRemote } from "../../store/remote.ts";
import { confirm } from "../../ui/confirm.tsx";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { occasion } from "../person/dates.ts";
import { bringBackDeletions } from "../devices/deletions.ts";
import { kindLabel } from "../person/interactions.ts";
import { undoMerge } from "./merging.ts";
import "./cleanup.css";

type Schemas = components["schemas"];

interface Deleted {
  people: Schemas["DeletedPerson"];
  groups: Schemas["Group"];
  relationships: Schemas["Relationship"];
  relationshipTypes: Schemas["RelationshipType"];
  importantDates: Schemas["DeletedDate"];
  customFieldTemplates: Schemas["Template"];
  interactions: Schemas["Interaction"];
}
type Kind = keyof Deleted;

interface TrashRow {
  id: string;
  name: string;
  deletedAt: string | null;
  path: string; // of the record, to which /restore and /permanent are added
  mergeId: string | null;
  deletedBy: Schemas["Deleter"] | null; // a device
}

// How the rows of each kind are called, and where they are.
const KINDS: { kind: Kind; label: string; path: (row: any) => string; name: (account: Account, row: any) => string }[] = [
  { kind: "people", label: "People", path: ({ id }: Deleted["people"]) => `/api/people/${id}`, name: (_, { displayName }: Deleted["people"]) => displayName },
  { kind: "groups", label: "Groups", path: ({ id }: Deleted["groups"]) => `/api/groups/${id}`, name: (_, { name }: Deleted["groups"]) => name },
  {
    kind: "importantDates",
    label: "Dates",
    path: ({ personId, id }: Deleted["importantDates"]) => `/api/people/${personId}/important-dates/${id}`,
    name: ({ settings }, date: Deleted["importantDates"]) => `${t("{occasion} of {name}", { occasion: occasion(date), name: date.personName })}, ${formatDay(date.date, settings.value.dateFormat, date.yearUnknown)}`,
  },
  {
    kind: "interactions",
    label: "Contacts|that were logged",
    path: ({ id }: Deleted["interactions"]) => `/api/interactions/${id}`,
    name: ({ settings }, { kind, people, title, at }: Deleted["interactions"]) => [kindLabel(kind), title, formatList(people.map(({ name }) => name)), timeInWords(at, settings.value.timezone)].filter(Boolean).join(" · "),
  },
  {
    kind: "relationships",
    label: "Relationships",
    path: ({ id }: Deleted["relationships"]) => `/api/relationships/${id}`,
    name: (_, { person, relatedPerson, relationshipType }: Deleted["relationships"]) => t("{name} is {type} of {other}", { name: person.name, type: relationshipType?.label ?? t("Connected"), other: relatedPerson.name }),
  },
  { kind: "relationshipTypes", label: "Relationship types", path: ({ id }: Deleted["relationshipTypes"]) => `/api/relationship-types/${id}`, name: (_, { label }: Deleted["relationshipTypes"]) => label },
  { kind: "customFieldTemplates", label: "Custom fields", path: ({ id }: Deleted["customFieldTemplates"]) => `/api/custom-field-templates/${id}`, name: (_, { name }: Deleted["customFieldTemplates"]) => name },
];

const PAGE_SIZE = 100;

export default function TrashPage() {
  const wanted = place.value.query.get("type");
  const { kind, path, name } = KINDS.find((each) => each.kind === wanted) ?? KINDS[0]!;
  const account = useAccount();
  const [pages, setPages] = useState(1);
  const [found, reload] = useRemote(`trash ${kind} ${pages}`, async (signal) => {
    const bodies = await Promise.all([...Array(pages).keys()].map((page) => connection.ask("GET", `/api/deleted?type=${kind}&limit=${PAGE_SIZE}&offset=${page * PAGE_SIZE}`, undefined, { signal })));
    const last = bodies.at(-1)!;
    const rows = bodies.flatMap((body) => body["deleted"] as Deleted[Kind][]);
    return {
      rows: rows.map((row): TrashRow => ({ id: row.id, name: name(account, row), deletedAt: row.deletedAt, path: path(row), mergeId: (row as { mergeId?: string | null }).mergeId ?? null, deletedBy: (row as { deletedBy?: Schemas["Deleter"] | null }).deletedBy ?? null })),
      days: last["retentionDays"] as number,
      total: last["pagination"].total as number,
    };
  });
  const { data, problem: unread } = found.value;
  const list = useRef<HTMLUListElement>(null);
  // Who comes to bring back what was deleted last does so with Enter.
  useEffect(() => {
    if (document.activeElement?.tagName === "H1") list.current?.querySelector("button")?.focus();
  }, [data !== undefined]);
  const [problem, attempt] = useAttempt(reload, () => account.syncer.syncNow());
  const restore = (row: TrashRow) =>
    attempt(async () => {
      if (row.mergeId) return undoMerge(account, row.mergeId);
      await connection.ask("POST", `${row.path}/restore`);
      toast(t("{name} is back.", { name: row.name }));
    });
  const remove = async (row: TrashRow) => {
    const isSure = await confirm(t("Remove {name} for good?", { name: row.name }), t("This cannot be undone."), t("Remove for good"), true);
    if (isSure) await attempt(() => connection.ask("DELETE", `${row.path}/permanent`));
  };
  const deleters = [...new Map((data?.rows ?? []).flatMap(({ deletedBy }) => (deletedBy ? [[deletedBy.tokenId, deletedBy] as const] : []))).values()];
  return (
    <Page title={t("Trash")}>
      <nav class="row" aria-label={t("Kinds of what was deleted")}>
        {KINDS.map((each) => (
          <button
            key={each.kind}
            class={`chip ${each.kind === kind ? "chosen" : ""}`}
            aria-pressed={each.kind === kind}
            onClick={() => {
              setPages(1);
              setQuery({ type: each.kind });
            }}
          >
            {t(each.label)}
          </button>
        ))}
      </nav>
      <ProblemNote problem={problem} />
      <ProblemNote problem={unread} onRetry={() => void reload()} />
      {data && (
        <>
          <p class="soft small" role="status">
            {data.total > 0 && `${tn("{count} entry.", "{count} entries.", data.total)} `}
            {tn("What is here is removed for good {count} day after it was deleted.", "What is here is removed for good {count} days after it was deleted.", data.days)}
          </p>
          {deleters.map((device) => <DeletedByDevice key={device.tokenId} device={device} attempt={attempt} />)}
          {data.rows.length === 0 && (
            <div class="empty">
              <span class="tile kind-touch"><Icon name="check" /></span>
              <p>{t("Nothing of this kind was deleted lately.")}</p>
            </div>
          )}
          {data.rows.length > 0 && (
            <ul class="card plain-lines" ref={list}>
              {data.rows.map((row) => (
                <li key={row.id} class="row apart">
                  <span>
                    <bdi>
                      <strong>{row.name}</strong>
                    </bdi>
                    <span class="soft small block">
                      {[row.mergeId && t("joined into another person"), row.deletedBy && t("deleted by {device}", { device: row.deletedBy.name }), row.deletedAt && timeInWords(row.deletedAt, account.settings.value.timezone)].filter(Boolean).join(" · ")}
                    </span>
                  </span>
                  <span class="row trash-acts">
                    <button onClick={() => void restore(row)} aria-label={`${row.mergeId ? t("Take apart again") : t("Restore")}: ${row.name}`}>
                      {row.mergeId ? t("Take apart again") : t("Restore")}
                    </button>
                    <button class="danger" onClick={() => void remove(row)} aria-label={`${t("Remove for good")}: ${row.name}`}>
                      {t("Remove for good")}
                    </button>
                  </span>
                </li>
              ))}
            </ul>
          )}
          {data.rows.length < data.total && <button onClick={() => setPages(pages + 1)}>{t("Show more of {total}", { total: formatNumber(data.total) })}</button>}
        </>
      )}
    </Page>
  );
}

// Also for a device whose password was revoked, which no other page shows.
function DeletedByDevice({ device, attempt }: { device: Schemas["Deleter"]; attempt: (work: () => Promise<unknown>) => Promise<void> }) {
  return (
    <div class="banner">
      <span>{t("{device} has deleted some of this.", { device: device.name })}</span>
      <button onClick={() => void attempt(() => bringBackDeletions(device.tokenId))} aria-label={t("Bring back what {name} deleted", { name: device.name })}>{t("Bring back")}</button>
    </div>
  );
}
