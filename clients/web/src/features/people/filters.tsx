// Filters and the order of the list. They are parameters of the address, so that a view can be kept and shared.
import { place, setQuery } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { addDays, type Day, today } from "../../i18n/days.ts";
import { formatNumber, t } from "../../i18n/index.ts";
import type { Settings } from "../../store/account.ts";
import type { PersonRow } from "../../store/people.ts";
import { type Remote, useRemote } from "../../store/remote.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Menu, type MenuItem } from "../../ui/Menu.tsx";
import { chosenColumns, columnLabels, toggleColumn } from "./columns.ts";
import { chooseLine, chosenLine, type SecondLine } from "./secondLine.ts";

type Sort = "name" | "lastContact" | "nextDate" | "createdAt";
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
    only: readList(query.get("only")),
    sort: SORTS.includes(sort) ? (sort as Sort) : "name",
    isReversed: query.get("order") === "desc",
    favouritesFirst: query.get("favouritesFirst") !== "false",
  };
}

function readList(text: string | null): string[] {
  return text ? text.split(",") : [];
}

const SILENT_DAYS = 180;

// What `only` may name, by which people are kept.
const ONLY: Record<string, (row: PersonRow, silentSince: Day) => boolean> = {
  favourites: ({ isFavourite }) => isFavourite,
  silent: ({ lastContact }, silentSince) => !lastContact || lastContact < silentSince,
  never: ({ lastContact }) => !lastContact,
  unreachable: ({ isReachable }) => !isReachable,
  noPhone: ({ lacks }) => lacks.phone,
  noEmail: ({ lacks }) => lacks.email,
  noAddress: ({ lacks }) => lacks.address,
  noPhoto: ({ photo }) => !photo,
  quiet: ({ isQuiet }) => isQuiet,
};

// `nextDates` is needed for the order by the next date alone.
export function applyFilter(rows: PersonRow[], filter: Filter, settings: Settings, nextDates: ReadonlyMap<string, Day>): PersonRow[] {
  const { groups, only, sort, isReversed, favouritesFirst } = filter;
  const silentSince = addDays(today(settings.timezone), -SILENT_DAYS);
  const tests = only.flatMap((name) => ONLY[name] ?? []);
  let found = rows;
  if (groups.length) found = found.filter(({ groupIds }) => (groupIds.length ? groupIds.some((id) => groups.includes(id)) : groups.includes("none")));
  if (tests.length) found = found.filter((row) => tests.every((test) => test(row, silentSince)));
  if (sort !== "name") {
    const dayOf = sort === "nextDate" ? ({ id }: PersonRow) => nextDates.get(id) : (row: PersonRow) => row[sort];
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
    const query = { importId, limit: 500, includeDetails: "false" };
    try {
      for await (const { id } of connection.pages("/api/people", "people", query, { signal })) people.push(id);
    } catch (error) {
      if (error instanceof TypeError && known.id === importId) return new Set(known.people);
      throw error;
    }
    localStorage.setItem(LAST_IMPORT, JSON.stringify({ id: importId, people }));
    return new Set(people);
  });
  return importId ? found.value : undefined;
}

export function FilterBar() {
  const account = useAccount();
  const filter = readFilter(place.value.query);
  const groups = account.groups.all.sort((one, other) => one.name.localeCompare(other.name));
  const toggled = (chosen: string[], value: string) => (chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]).join(",");
  const only = (value: string, label: string): MenuItem => ({
    label,
    isChecked: filter.only.includes(value),
    onSelect: () => setQuery({ only: toggled(filter.only, value) }),
  });
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
  const group = (id: string, name: string): MenuItem => ({
    label: name,
    isChecked: filter.groups.includes(id),
    onSelect: () => setQuery({ group: toggled(filter.groups, id) }),
  });
  const groupNames = filter.groups.flatMap((id) => (id === "none" ? t("Without a group") : (account.groups.byId.value.get(id)?.name ?? [])));
  const isFiltered = filter.groups.length + filter.only.length > 0 || ["sort", "order", "favouritesFirst", "import"].some((name) => place.value.query.has(name));
  return (
    <div class="row">
      <Menu label={t("Groups")} class="button" items={[group("none", t("Without a group")), ...groups.map(({ id, name }) => group(id, name))]}>
        <Icon name="group" />
        {groupNames.join(", ") || t("Groups")}
      </Menu>
      <Menu
        label={t("Filter and order")}
        class="button"
        items={[
          only("favourites", t("Favourites")),
          only("silent", t("No contact for half a year")),
          only("never", t("Never any contact")),
          only("unreachable", t("Without number, e-mail and address")),
          only("noPhone", t("Without a phone number")),
          only("noEmail", t("Without an e-mail address")),
          only("noAddress", t("Without an address")),
          only("noPhoto", t("Without a photo")),
          only("quiet", t("Quiet people")),
          sort("name", t("By name")),
          sort("lastContact", t("By last contact")),
          sort("nextDate", t("By the next date")),
          sort("createdAt", t("Newest first")),
          { label: t("The other way round"), isChecked: filter.isReversed, onSelect: () => setQuery({ order: filter.isReversed ? null : "desc" }) },
          { label: t("Favourites first"), isChecked: filter.favouritesFirst, onSelect: () => setQuery({ favouritesFirst: filter.favouritesFirst ? "false" : null }) },
          line("organization", t("Show the organization")),
          line("lastContact", t("Show the last contact")),
          line("group", t("Show the groups")),
          line("town", t("Show the town")),
        ]}
      >
        <Icon name="filter" />
        {t("Filter")}
        {filter.only.length > 0 && ` · ${formatNumber(filter.only.length)}`}
      </Menu>
      <span class="desk-only">
        <Menu label={t("Columns")} class="button" items={columnLabels().map(([column, label]) => ({ label, isChecked: chosenColumns.value.includes(column), onSelect: () => toggleColumn(column) }))}>
          {t("Columns")}
        </Menu>
      </span>
      {isFiltered && (
        <button class="plain" onClick={() => setQuery({ group: null, only: null, sort: null, order: null, favouritesFirst: null, import: null })}>
          {t("Show all")}
        </button>
      )}
    </div>
  );
}
