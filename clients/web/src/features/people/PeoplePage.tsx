// The list of people: instant search, A to Z, selection with bulk actions. All from memory, so it works offline.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { href, navigate, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { letterOf, type PersonRow, search } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { isDesk } from "../../ui/media.ts";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { type ListControl, VirtualList } from "../../ui/VirtualList.tsx";
import { chosenColumns, columnLabels, useCells, useNextDates } from "./columns.ts";
import { applyFilter, FilterBar, readFilter, useImported } from "./filters.tsx";
import { LetterIndex } from "./LetterIndex.tsx";
import { secondLine } from "./secondLine.ts";
import { Selection, SelectionBar } from "./selection.tsx";
import "./people.css";

const ROW_HEIGHT = 60;

export default function PeoplePage() {
  const account = useAccount();
  const selection = useMemo(() => new Selection(), []);
  const control = useRef<ListControl | null>(null);
  const box = useRef<HTMLInputElement>(null);
  const { query } = place.value;
  const words = query.get("q") ?? "";
  const filter = readFilter(query);
  const everyone = account.people.value;
  const imported = useImported(query.get("import"));
  const nextDates = useNextDates(filter.sort === "nextDate");
  const filtered = useMemo(() => {
    const found = applyFilter(everyone, filter, account.settings.value, nextDates);
    return imported ? found.filter(({ id }) => imported.data?.has(id)) : found;
  }, [everyone, account.peopleVersion.value, account.settings.value, nextDates, imported, ...Object.values(filter).map(String)]);
  const shown = useMemo(() => search(filtered, words), [filtered, words]);
  const cellOf = useCells();
  const hasOrderOfNames = words === "" && filter.sort === "name";

  useEffect(() => selection.keepOnly(everyone), [everyone]);
  useEffect(() => {
    if (!query.has("search")) return;
    box.current?.focus();
    setQuery({ search: null });
  }, []);
  useKeys(
    [
      { key: "j", label: t("Next person"), act: () => control.current?.focus(control.current.current() + 1) },
      { key: "k", label: t("Previous person"), act: () => control.current?.focus(control.current.current() - 1) },
      { key: "x", label: t("Select the person"), act: () => selectCurrent() },
      { key: "Escape", label: t("End the selection"), act: () => selection.clear() },
    ],
    [shown],
  );
  const selectCurrent = () => {
    const row = shown[control.current?.current() ?? 0];
    if (row && !account.isFilling.value) selection.toggle(row.id);
  };
  const isReading = (account.sync.value.progress !== null && everyone.length === 0) || (imported !== undefined && !imported.data);
  return (
    <Page
      title={t("People")}
      isBeside={isDesk.value && place.value.path !== "/people"}
      actions={
        <a class="button main" href={href("/people/new")}>
          <Icon name="add" />
          {t("New person")}
        </a>
      }
    >
      <div class="people-bar" role="search">
        <input
          ref={box}
          type="search"
          aria-label={t("Search people")}
          placeholder={t("Name, number, e-mail, town …")}
          value={words}
          autocomplete="off"
          enterkeyhint="search"
          onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "Enter") {
              event.preventDefault();
              if (event.key === "Enter" && shown.length === 1) navigate(`/people/${shown[0]!.id}`);
              else control.current?.focus(0);
            } else if (event.key === "Escape") setQuery({ q: null });
          }}
        />
        <FilterBar />
      </div>
      <ProblemNote problem={imported?.problem ?? null} />
      <p class="soft small" role="status">
        {tn("{count} person", "{count} people", shown.length)}
        {shown.length < everyone.length && ` ${t("of {total}", { total: formatNumber(everyone.length) })}`}
      </p>
      <SelectionBar selection={selection} shown={shown} />
      {shown.length === 0 && !isReading && <Nobody hasWords={words !== "" || filtered.length < everyone.length} name={words} />}
      {shown.length > 0 && (
        <div class="people-heads soft small" aria-hidden="true">
          <span>{t("Name")}</span>
          {columnLabels()
            .filter(([column]) => chosenColumns.value.includes(column))
            .sort(([one], [other]) => chosenColumns.value.indexOf(one) - chosenColumns.value.indexOf(other))
            .map(([column, label]) => (
              <span class="people-column" key={column}>
                {label}
              </span>
            ))}
        </div>
      )}
      <div class="people-list">
        <VirtualList
          label={t("People")}
          items={shown}
          rowHeight={ROW_HEIGHT}
          keyOf={({ id }) => id}
          textOf={({ sortKey }) => sortKey}
          control={control}
          onOpen={({ id }) => {
            (document.activeElement as HTMLElement | null)?.blur(); // the heading of the person takes the focus
            navigate(`/people/${id}`);
          }}
          onToggle={({ id }, extend) => !account.isFilling.value && (extend ? selection.extendTo(id, shown) : selection.toggle(id))}
          render={(row) => <Row row={row} selection={selection} shown={shown} cellOf={cellOf} />}
        />
        {hasOrderOfNames && <LetterIndex rows={shown} letterOf={(row) => (row.isFavourite && filter.favouritesFirst && !filter.only.length ? "★" : letterOf(row))} onChoose={(index) => control.current?.focus(index)} />}
      </div>
    </Page>
  );
}

interface RowProps {
  row: PersonRow;
  selection: Selection;
  shown: readonly PersonRow[];
  cellOf: ReturnType<typeof useCells>;
}

function Row({ row, selection, shown, cellOf }: RowProps) {
  const account = useAccount();
  const isSelected = selection.ids.value.has(row.id);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const choose = (event: MouseEvent) => {
    if (account.isFilling.value) return;
    if (!event.shiftKey && !event.ctrlKey && !event.metaKey && !(selection.ids.value.size && isTouch)) return;
    event.preventDefault();
    if (event.shiftKey) selection.extendTo(row.id, shown);
    else selection.toggle(row.id);
  };
  const endPress = () => clearTimeout(timer.current);
  return (
    <>
      <span role="gridcell" class="people-check">
        <input
          disabled={account.isFilling.value}
          type="checkbox"
          tabIndex={-1}
          checked={isSelected}
          aria-label={t("Select {name}", { name: row.name })}
          onClick={(event) => {
            if (event.shiftKey) selection.extendTo(row.id, shown);
            else selection.toggle(row.id);
          }}
        />
      </span>
      <span role="gridcell" class="people-cell">
        <a
          class="people-link"
          tabIndex={-1}
          href={href(`/people/${row.id}`)}
          onClick={choose}
          onPointerDown={(event) => {
            isTouch = event.pointerType === "touch";
            // A long press selects, as in the address books of phones.
            if (isTouch && !account.isFilling.value) timer.current = setTimeout(() => selection.toggle(row.id), 500);
          }}
          onPointerUp={endPress}
          onPointerMove={endPress}
          onPointerCancel={endPress}
          onContextMenu={(event) => isTouch && event.preventDefault()}
        >
          <Avatar person={row} />
          <span class="people-text">
            <bdi class="people-name">{row.name}</bdi>
            <span class="soft small people-second">{secondLine(row, account.settings.value, account.groups.byId.value)}</span>
          </span>
          {row.isFavourite && (
            <span class="people-star" role="img" aria-label={t("Favourite")}>
              ★
            </span>
          )}
        </a>
      </span>
      {chosenColumns.value.map((column) => (
        <span role="gridcell" class="people-column soft small" key={column}>
          {cellOf(row, column)}
        </span>
      ))}
    </>
  );
}

let isTouch = false;

function Nobody({ hasWords, name }: { hasWords: boolean; name: string }) {
  return (
    <div class="card stack">
      <p>{hasWords ? t("Nobody is found.") : t("There is nobody here yet.")}</p>
      <p class="row">
        {name && (
          <a class="button" href={href(`/people/new?name=${encodeURIComponent(name)}`)}>
            {t("Add {name}", { name })}
          </a>
        )}
        {hasWords ? (
          <a class="button" href={href("/people")}>
            {t("Show everybody")}
          </a>
        ) : (
          <>
            <a class="button main" href={href("/people/new")}>
              {t("Add the first person")}
            </a>
            <a class="button" href={href("/import")}>
              {t("Import your contacts")}
            </a>
          </>
        )}
      </p>
    </div>
  );
}

