// Filters and the order of the list. They are parameters of the address, so that a view can be kept and shared.
import { useMemo } from "preact/hooks";
import { href, place, setQuery } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { addDays, type Day, today } from "../../i18n/days.ts";
import { formatNumber, t } from "../../i18n/index.ts";
import type { Account, Settings } from "../../store/account.ts";
import type { PersonRow } from "../../store/people.ts";
import { type Remote, useRemote } from "../../store/remote.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Menu, type MenuItem } from "../../ui/Menu.tsx";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import { chosenColumns, columnLabels, type Dates, toggleColumn } from "./columns.ts";
import { chooseLine, chosenLine, type SecondLine } from "./secondLine.ts";

export type Sort = "name" | "lastContact" | "nextDate" | "createdAt";
const SORTS: readonly string[] = ["name", "lastContact", "nextDate", "createdAt"] satisfies Sort[];

export interface Filter {
  groups: string[]; // ids of which a person has one, or "none"
  only: string[]; // names of ONLY: a person meets all of them
  sort: Sort;
  isReversed: boolean;
  favouritesFirst: boolean;
}

export function readFilter(query: URLSearchParams): Filter {
  const sort = query.get("sort") ?? "name";
  return {
    groups: readList(query.get("group")),
    only: readList(query.get("only")).filter((name) => Object.hasOwn(ONLY, name)),
    sort: SORTS.includes(sort) ? (sort as Sort) : "name",
    isReversed: query.get("order") === "desc",
    favouritesFirst: query.get("favouritesFirst") !== "false",
  };
}

function readList(text: string | null): string[] {
  return text ? text.split(",") : [];
}

const SILENT_DAYS = 180;
const SOON_DAYS = 30;

interface Days {
  now: Day;
  silentSince: Day;
  soon: Day;
  dates: ReadonlyMap<string, Dates>;
}

// What `only` may name, by which people are kept.
const ONLY: Record<string, (row: PersonRow, days: Days) => boolean> = {
  favourites: ({ isFavourite }) => isFavourite,
  due: ({ contactDue, isQuiet }, { now }) => contactDue !== null && contactDue <= now && !isQuiet,
  soon: ({ id }, { soon, dates }) => (dates.get(id)?.next ?? "9999") <= soon,
  silent: ({ lastContact }, { silentSince }) => !lastContact || lastContact < silentSince,
  never: ({ lastContact }) => !lastContact,
  unreachable: ({ isReachable }) => !isReachable,
  noPhone: ({ lacks }) => lacks.phone,
  noEmail: ({ lacks }) => lacks.email,
  noAddress: ({ lacks }) => lacks.address,
  noPhoto: ({ photo }) => !photo,
  quiet: ({ isQuiet }) => isQuiet,
};

function daysOf(settings: Settings, dates: ReadonlyMap<string, Dates>): Days {
  const now = today(settings.timezone);
  return { now, silentSince: addDays(now, -SILENT_DAYS), soon: addDays(now, SOON_DAYS), dates };
}

export function applyFilter(rows: PersonRow[], filter: Filter, settings: Settings, dates: ReadonlyMap<string, Dates>): PersonRow[] {
  const { groups, only, sort, isReversed, favouritesFirst } = filter;
  const days = daysOf(settings, dates);
  const tests = only.flatMap((name) => ONLY[name] ?? []);
  let found = rows;
  if (groups.length) found = found.filter(({ groupIds }) => (groupIds.length ? groupIds.some((id) => groups.includes(id)) : groups.includes("none")));
  if (tests.length) found = found.filter((row) => tests.every((test) => test(row, days)));
  if (sort !== "name") {
    const dayOf = sort === "nextDate" ? ({ id }: PersonRow) => dates.get(id)?.next : (row: PersonRow) => row[sort];
    // The next date first, else the newest. Those without a day stand last.
    const direction = sort === "nextDate" ? -1 : 1;
    const keyed = found.map((row) => [dayOf(row) ?? "", row] as const);
    found = keyed.sort(([one], [other]) => (one === other ? 0 : !one || !other ? (one ? -1 : 1) : one > other ? -direction : direction)).map(([, row]) => row);
  }
  if (isReversed) found = found === rows ? [...found].reverse() : found.reverse();
  if (sort !== "name" || !favouritesFirst || only.length) return found;
  const favourites = found.filter(({ isFavourite }) => isFavourite);
  return favourites.length ? [...favourites, ...found.filter(({ isFavourite }) => !isFavourite)] : found;
}

const LAST_IMPORT = "contacts import"; // in localStorage, for when there is no network: { id, people }

// The people of an import, whom the service knows: without that filter undefined, as while they are asked for.
export function useImported(importId: string | null): Remote<ReadonlySet<string>> | undefined {
  const [found] = useRemote(`import ${importId ?? ""}`, async (signal) => {
    if (!importId) return new Set<string>();
    const known = JSON.parse(localStorage.getItem(LAST_IMPORT) ?? "{}") as { id?: string; people?: string[] };
    const people: string[] = [];
    try {
      // Those of several files that came in together have commas between.
      for (const one of importId.split(",")) {
        const query = { importId: one, limit: 500, includeDetails: "false" };
        for await (const { id } of connection.pages("/api/people", "people", query, { signal })) people.push(id);
      }
    } catch (error) {
      if (error instanceof TypeError && known.id === importId) return new Set(known.people);
      throw error;
    }
    localStorage.setItem(LAST_IMPORT, JSON.stringify({ id: importId, people }));
    return new Set(people);
  });
  return importId ? found.value : undefined;
}

const LABELS: Record<string, () => string> = {
  favourites: () => t("Favourites"),
  due: () => t("To call"),
  soon: () => t("A date soon"),
  silent: () => t("No contact for half a year"),
  never: () => t("Never any contact"),
  unreachable: () => t("Without number, e-mail and address"),
  noPhone: () => t("Without a phone number"),
  noEmail: () => t("Without an e-mail address"),
  noAddress: () => t("Without an address"),
  noPhoto: () => t("Without a photo"),
  quiet: () => t("Quiet people"),
};
const OFFERED = ["favourites", "due", "soon"]; // with their numbers, as chips

interface ChipsProps {
  everyone: PersonRow[];
  settings: Settings;
  dates: ReadonlyMap<string, Dates>;
}

// Filters that can be seen, and taken away one by one; the menu behind the last chip has the rest.
export function FilterChips({ everyone, settings, dates }: ChipsProps) {
  const account = useAccount();
  const { query } = place.value;
  const filter = readFilter(query);
  const { savedLists } = settings;
  const counts = useMemo(() => {
    const days = daysOf(settings, dates);
    return Object.fromEntries(OFFERED.map((name) => [name, everyone.filter((row) => ONLY[name]!(row, days)).length]));
  }, [everyone, account.peopleVersion.value, settings, dates]);
  const groups = account.groups.all.sort((one, other) => one.name.localeCompare(other.name));
  const toggle = (list: "only" | "group", value: string) => {
    const chosen = list === "only" ? filter.only : filter.groups;
    setQuery({ [list]: (chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]).join(",") });
  };
  const groupName = (id: string) => (id === "none" ? t("Without a group") : account.groups.byId.value.get(id)?.name);
  const isFiltered = filter.groups.length + filter.only.length > 0 || query.has("import");
  const showAll = () => setQuery({ group: null, only: null, import: null });
  const chosen = [
    ...filter.only.flatMap((name) => (LABELS[name] ? [{ key: name, label: LABELS[name]!(), end: () => toggle("only", name) }] : [])),
    ...filter.groups.flatMap((id) => (groupName(id) ? [{ key: id, label: groupName(id)!, end: () => toggle("group", id) }] : [])),
    ...(query.has("import") ? [{ key: "import", label: t("Of one import"), end: () => setQuery({ import: null }) }] : []),
  ];
  const kept = keptQuery(query);
  return (
    <div class={`people-chips${isFiltered ? " wrapped" : ""}`}>
      <button class={`chip${isFiltered ? "" : " chosen"}`} aria-pressed={!isFiltered} onClick={showAll}>
        {t("All")}
      </button>
      {chosen.map(({ key, label, end }) => (
        <button class="chip chosen" key={key} aria-label={t("Without the filter {name}", { name: label })} onClick={end}>
          <bdi>{label}</bdi>
          <Icon name="close" size={14} />
        </button>
      ))}
      {OFFERED.filter((name) => !filter.only.includes(name) && counts[name]! > 0).map((name) => (
        <button class="chip" key={name} onClick={() => toggle("only", name)}>
          {LABELS[name]!()}
          <span class="soft">{formatNumber(counts[name]!)}</span>
        </button>
      ))}
      {(savedLists ?? []).map(({ name, query: saved }) => (
        <a class={`chip${saved === kept ? " chosen" : ""}`} key={name} href={href(`/people?${saved}`)}>
          <bdi>{name}</bdi>
        </a>
      ))}
      <Menu
        label={t("Filter")}
        class="chip add"
        items={[
          { heading: t("Only") },
          ...Object.entries(LABELS).map(([name, label]) => ({ label: label(), isChecked: filter.only.includes(name), onSelect: () => toggle("only", name) })),
          { heading: t("Groups") },
          ...[["none", t("Without a group")] as const, ...groups.map(({ id, name }) => [id, name] as const)].map(([id, name]) => ({ label: name, isChecked: filter.groups.includes(id), onSelect: () => toggle("group", id) })),
          kept !== "" && !(savedLists ?? []).some(({ query: saved }) => saved === kept) && { label: t("Keep as a list"), onSelect: () => void keepList(account, chosen.map(({ label }) => label).join(", "), kept) },
          (savedLists ?? []).some(({ query: saved }) => saved === kept) && { label: t("No longer keep this list"), onSelect: () => void saveLists(account, savedLists.filter(({ query: saved }) => saved !== kept)) },
        ]}
      >
        <Icon name="add" size={14} />
        {t("Filter")}
      </Menu>
    </div>
  );
}

const KEPT = ["q", "group", "only", "sort", "order", "favouritesFirst"];

// What a kept list remembers of the address; empty if nothing is filtered.
function keptQuery(query: URLSearchParams): string {
  if (!["q", "group", "only"].some((name) => query.get(name))) return "";
  return new URLSearchParams([...query].filter(([name]) => KEPT.includes(name))).toString();
}

type SavedList = Settings["savedLists"][number];
const MAX_NAME = 60;

async function keepList(account: Account, name: string, query: string): Promise<void> {
  const lists = account.settings.value.savedLists ?? [];
  const named = (name || new URLSearchParams(query).get("q") || t("List")).slice(0, MAX_NAME);
  const isSaved = await saveLists(account, [...lists, { name: named, query }]);
  if (isSaved) toast(t("The list {name} is kept.", { name: named }), () => saveLists(account, lists));
}

async function saveLists(account: Account, savedLists: SavedList[]): Promise<boolean> {
  try {
    await connection.ask("PUT", "/api/user/saved-lists", { savedLists });
    account.syncer.syncNow();
    return true;
  } catch (error) {
    toast(problemOf(error).text);
    return false;
  }
}

export function OrderMenu() {
  const filter = readFilter(place.value.query);
  const sort = (value: Sort, label: string): MenuItem => ({
    label,
    isChecked: filter.sort === value,
    onSelect: () => setQuery({ sort: value === "name" ? null : value }),
  });
  const line = (value: SecondLine, label: string): MenuItem => ({
    label,
    isChecked: chosenLine.value === value,
    onSelect: () => chooseLine(value),
  });
  return (
    <Menu
      label={t("Order")}
      items={[
        { heading: t("Order") },
        sort("name", t("By name")),
        sort("lastContact", t("By last contact")),
        sort("nextDate", t("By the next date")),
        sort("createdAt", t("Newest first")),
        { label: t("The other way round"), isChecked: filter.isReversed, onSelect: () => setQuery({ order: filter.isReversed ? null : "desc" }) },
        { label: t("Favourites first"), isChecked: filter.favouritesFirst, onSelect: () => setQuery({ favouritesFirst: filter.favouritesFirst ? "false" : null }) },
        { heading: t("Below the name") },
        line("organization", t("The organization")),
        line("lastContact", t("The last contact")),
        line("group", t("The groups")),
        line("town", t("The town")),
      ]}
    >
      <Icon name="order" />
    </Menu>
  );
}

export function ColumnsMenu() {
  return (
    <Menu label={t("Columns")} class="plain" items={columnLabels().map(([column, label]) => ({ label, isChecked: chosenColumns.value.includes(column), onSelect: () => toggleColumn(column) }))}>
      {t("Columns")}
    </Menu>
  );
}
