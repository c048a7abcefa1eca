// The list of people: instant search, filters as chips, A to Z, selection. All from memory, so it works offline. From 70rem on
// it stands beside the person whom it shows, or over the whole width as a table.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { dragPeople } from "../../app/Navigation.tsx";
import { href, navigate, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { addDays, daysBetween, daysFromNow, today } from "../../i18n/days.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { letterOf, type PersonRow, search } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { isComposing, useKeys } from "../../ui/keyboard.ts";
import { lazy } from "../../ui/lazy.tsx";
import { isDesk, isPhone } from "../../ui/media.ts";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { type ListControl, VirtualList } from "../../ui/VirtualList.tsx";
import { chosenColumns, columnLabels, useCells, useDates } from "./columns.ts";
import { applyFilter, ColumnsMenu, FilterChips, OrderMenu, readFilter, type Sort, useImported } from "./filters.tsx";
import { LetterIndex } from "./LetterIndex.tsx";
import { personPath, shownIds } from "./listed.ts";
import { mailUrl, telUrl } from "./reach.ts";
import { secondLine } from "./secondLine.ts";
import { Selection } from "./selection.ts";
import { useTextHits } from "./textHits.ts";
import "./people.css";

const SelectionBar = lazy(() => import("./SelectionBar.tsx"));
const ROW_REM = 3.75;
const STILL_PIXELS = 10; // how far a finger goes that stays: a phone hears each tremble of it
const SHOW_AFTER_MILLISECONDS = 120; // who moves through the list with a key held down is not shown everybody
const SOON_DAYS = 7;
const FACES = 12;

export default function PeoplePage() {
  const account = useAccount();
  const selection = useMemo(() => new Selection(), []);
  const control = useRef<ListControl | null>(null);
  const box = useRef<HTMLInputElement>(null);
  const { path, query } = place.value;
  const isBeside = isDesk.value && path !== "/people";
  const isTable = query.get("view") === "table";
  const words = query.get("q") ?? "";
  const filter = readFilter(query);
  const everyone = account.people.value;
  const imported = useImported(query.get("import"));
  const dates = useDates(true);
  const settings = account.settings.value;
  const filtered = useMemo(() => {
    const found = applyFilter(everyone, filter, settings, dates);
    return imported ? found.filter(({ id }) => imported.data?.has(id)) : found;
  }, [everyone, account.peopleVersion.value, settings, dates, imported, ...Object.values(filter).map(String)]);
  const inMemory = useMemo(() => search(filtered, words), [filtered, words]);
  const inTexts = useTextHits(words, filtered, inMemory);
  const shown = useMemo(() => (inTexts.length ? [...inMemory, ...inTexts] : inMemory), [inMemory, inTexts.map(({ id }) => id).join()]);
  const cellOf = useCells(dates);
  const hasOrderOfNames = words === "" && filter.sort === "name";
  const headingOf = (row: PersonRow) => (row.isFavourite && filter.favouritesFirst && !filter.only.length ? "★" : letterOf(row));
  const headings = useMemo(() => {
    if (!hasOrderOfNames || isTable) return [];
    return shown.flatMap((row, index) => (index === 0 || headingOf(row) !== headingOf(shown[index - 1]!) ? [{ index, text: headingOf(row) }] : []));
  }, [shown, hasOrderOfNames, isTable]);
  const rowHeight = ROW_REM * parseFloat(getComputedStyle(document.documentElement).fontSize);

  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const show = isDesk.value && !isTable ? ({ id }: PersonRow) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => navigate(personPath(id), { replace: place.value.path !== "/people" }), SHOW_AFTER_MILLISECONDS);
  } : undefined;
  useEffect(() => () => clearTimeout(timer.current), []);
  // The list shows where the person stands whom another page has led to.
  const shownId = path.startsWith("/people/") ? path.slice("/people/".length) : null;
  useEffect(() => {
    const index = isBeside && shownId ? shown.findIndex(({ id }) => id === shownId) : -1;
    if (index >= 0 && !document.activeElement?.closest(".list-pane")) control.current?.show(index);
  }, [shownId, shown.length > 0]);
  useEffect(() => void (shownIds.value = shown.map((row) => row.id)), [shown]);
  useEffect(() => selection.keepOnly(everyone), [everyone]);
  useEffect(() => {
    if (!query.has("search")) return;
    box.current?.focus();
    setQuery({ search: null });
  }, [query]);
  // The first key shows the first one.
  const step = (by: number) => {
    const isBegun = shownId !== null || document.activeElement?.closest(".people-list") != null;
    control.current?.move(control.current.current() + (isBegun ? by : 0));
  };
  const current = () => shown[control.current?.current() ?? 0];
  const toggleCurrent = () => {
    const row = current();
    if (row && !account.isFilling.value) selection.toggle(row.id);
  };
  useKeys(
    [
      { key: "j", label: t("Next person"), act: () => step(1) },
      { key: "k", label: t("Previous person"), act: () => step(-1) },
      { key: "x", label: t("Select the person"), act: () => toggleCurrent() },
      {
        key: "t",
        label: t("Add to a group"),
        act: () => {
          if (selection.ids.peek().size === 0) toggleCurrent();
          selection.wantsGroup.value = selection.ids.peek().size > 0;
        },
      },
      {
        key: "f",
        label: t("Favourite"),
        act: () => {
          const row = current();
          if (row) void account.copy.update("person", row.id, { favourite: !row.isFavourite });
        },
      },
      { key: "Escape", label: t("End the selection"), act: () => selection.clear() },
    ],
    [shown, show === undefined, shownId],
  );
  const isReading = (account.sync.value.progress !== null && everyone.length === 0) || (imported !== undefined && !imported.data);
  const columns = chosenColumns.value;
  return (
    <Page
      title={t("People")}
      isBeside={isBeside}
      width="list"
      actions={
        <>
          <span class="soft small" role="status">
            {shown.length < everyone.length ? (
              t("{count} of {total}", { count: formatNumber(shown.length), total: formatNumber(everyone.length) })
            ) : (
              <>
                <span aria-hidden="true">{formatNumber(shown.length)}</span>
                <span class="hidden-text">{tn("{count} person", "{count} people", shown.length)}</span>
              </>
            )}
          </span>
          {isPhone.value && (
            <>
              <PlaceLink path="/network" icon="network" label={t("Network")} />
              <PlaceLink path="/map" icon="location" label={t("Map")} />
            </>
          )}
          <OrderMenu />
          {isTable && <ColumnsMenu />}
          {isDesk.value && (
            <button
              class="plain icon"
              aria-pressed={isTable}
              aria-label={t("As a table")}
              title={t("As a table")}
              onClick={() => navigate(isTable ? "/people" : `/people?${new URLSearchParams({ ...Object.fromEntries(query), view: "table" })}`)}
            >
              <Icon name="table" />
            </button>
          )}
          <button
            class="plain icon"
            aria-pressed={selection.isOn.value}
            aria-label={t("Select")}
            title={t("Select")}
            onClick={() => (selection.isOn.value ? selection.clear() : (selection.isOn.value = true))}
          >
            <Icon name="select" />
          </button>
        </>
      }
    >
      <div class="people-bar" role="search">
        <label class="people-search">
          <Icon name="search" size={18} />
          <input
            ref={box}
            type="search"
            aria-label={t("Search people")}
            placeholder={t("Name, number, town, note")}
            value={words}
            autocomplete="off"
            enterkeyhint="search"
            onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
            onKeyDown={(event) => {
              if (isComposing(event)) return;
              if (event.key === "ArrowDown" || event.key === "Enter") {
                event.preventDefault();
                if (event.key === "Enter" && shown.length === 1) navigate(personPath(shown[0]!.id));
                else control.current?.focus(0);
              } else if (event.key === "Escape") setQuery({ q: null });
            }}
          />
        </label>
        <FilterChips everyone={everyone} settings={settings} dates={dates} />
      </div>
      <ProblemNote problem={imported?.problem ?? null} />
      {isPhone.value && words === "" && filter.groups.length + filter.only.length === 0 && <Faces rows={everyone} />}
      {shown.length === 0 && !isReading && <Nobody hasWords={words !== "" || filtered.length < everyone.length} name={words} />}
      {shown.length > 0 && (
        <div class="people-heads soft">
          <SortHead sort="name" label={t("Name")} filter={filter} />
          {columns.map((column, index) => (
            <SortHead key={column} class={columnClass(index)} sort={SORT_OF_COLUMN[column]} label={columnLabels().find(([name]) => name === column)![1]} filter={filter} />
          ))}
        </div>
      )}
      <div class="people-list">
        <VirtualList
          label={t("People")}
          items={shown}
          rowHeight={rowHeight}
          headings={headings}
          keyOf={({ id }) => id}
          textOf={({ sortKey }) => sortKey}
          control={control}
          onOpen={({ id }) => {
            clearTimeout(timer.current);
            (document.activeElement as HTMLElement | null)?.blur(); // the heading of the person takes the focus
            if (path === `/people/${id}`) document.querySelector<HTMLElement>("h1")?.focus();
            else navigate(personPath(id));
          }}
          onMove={show}
          onToggle={({ id }, extend, from) => !account.isFilling.value && (extend ? selection.extendTo(id, shown, from.id) : selection.toggle(id))}
          render={(row) => <Row row={row} selection={selection} shown={shown} next={dates.get(row.id)?.next ?? null} cellOf={cellOf} />}
        />
        {hasOrderOfNames && <LetterIndex rows={shown} letterOf={headingOf} onChoose={(index) => control.current?.focus(index)} />}
      </div>
      {selection.ids.value.size > 0 && <SelectionBar selection={selection} shown={shown} />}
    </Page>
  );
}

// There is always room for two columns where there is any.
const columnClass = (index: number) => (index < 2 ? "people-column" : "people-column people-later");

const SORT_OF_COLUMN: Record<string, Sort | undefined> = { lastContact: "lastContact", nextDate: "nextDate" };

interface HeadProps {
  sort: Sort | undefined; // undefined: the list is not ordered by it
  label: string;
  filter: ReturnType<typeof readFilter>;
  class?: string;
}

function SortHead({ sort, label, filter, class: className = "" }: HeadProps) {
  if (!sort) return <span class={className}>{label}</span>;
  const isChosen = filter.sort === sort;
  return (
    <span class={className}>
      <button
        class="plain"
        aria-pressed={isChosen}
        onClick={() => setQuery(isChosen ? { order: filter.isReversed ? null : "desc" } : { sort: sort === "name" ? null : sort, order: null })}
      >
        {label}
        {isChosen && <span aria-hidden="true">{filter.isReversed ? "↑" : "↓"}</span>}
      </button>
    </span>
  );
}

function PlaceLink({ path, icon, label }: { path: string; icon: "network" | "location"; label: string }) {
  return (
    <a class="button plain icon" href={href(path)} aria-label={label}>
      <Icon name={icon} />
    </a>
  );
}

// On a phone: the favourites, one tap away.
function Faces({ rows }: { rows: readonly PersonRow[] }) {
  const favourites = rows.filter(({ isFavourite }) => isFavourite).slice(0, FACES);
  if (favourites.length === 0) return null;
  return (
    <ul class="people-faces" aria-label={t("Favourites")}>
      {favourites.map((row) => (
        <li key={row.id}>
          <a href={href(`/people/${row.id}`)}>
            <Avatar person={row} size="medium" />
            <bdi>{row.parts.nickname || row.parts.name || row.name}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}

interface RowProps {
  row: PersonRow;
  selection: Selection;
  shown: readonly PersonRow[];
  next: string | null;
  cellOf: ReturnType<typeof useCells>;
}

function Row({ row, selection, shown, next, cellOf }: RowProps) {
  const account = useAccount();
  const { ids, isOn } = selection;
  const isSelected = ids.value.has(row.id);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const now = today(account.settings.value.timezone);
  const choose = (event: MouseEvent) => {
    if (account.isFilling.value) return;
    if (!isOn.value && !event.shiftKey && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    if (event.shiftKey) selection.extendTo(row.id, shown);
    else selection.toggle(row.id);
  };
  const endPress = () => clearTimeout(timer.current);
  const isDue = row.contactDue !== null && row.contactDue <= now && !row.isQuiet;
  const isSoon = next !== null && next <= addDays(now, SOON_DAYS);
  return (
    <>
      {isOn.value && (
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
      )}
      <span role="gridcell" class="people-cell">
        <a
          class="people-link"
          tabIndex={-1}
          href={href(personPath(row.id))}
          aria-current={place.value.path === `/people/${row.id}` ? "true" : undefined}
          onClick={choose}
          draggable
          onDragStart={(event) => dragPeople(event, isSelected ? [...ids.value] : [row.id])}
          onPointerDown={(event) => {
            isTouch = event.pointerType === "touch";
            pressedAt = [event.clientX, event.clientY];
            // A long press selects, as in the address books of phones.
            if (isTouch && !account.isFilling.value) timer.current = setTimeout(() => selection.toggle(row.id), 500);
          }}
          onPointerUp={endPress}
          onPointerMove={({ clientX, clientY }) => Math.hypot(clientX - pressedAt[0], clientY - pressedAt[1]) > STILL_PIXELS && endPress()}
          onPointerCancel={endPress}
          onContextMenu={(event) => isTouch && event.preventDefault()}
        >
          <Avatar person={row} isDue={isDue} />
          <span class="people-text">
            <span class="people-first">
              <bdi class="people-name">{row.name}</bdi>
              {row.isFavourite && (
                <span class="people-star" role="img" aria-label={t("Favourite")}>
                  ★
                </span>
              )}
            </span>
            <span class="people-line">
              <span class="soft small people-second">{secondLine(row, account.settings.value, account.groups.byId.value)}</span>
              {isSoon && <span class="badge people-soon">{daysFromNow(daysBetween(now, next))}</span>}
            </span>
          </span>
          {isDue && <span class="hidden-text">{t("Time to get in touch")}</span>}
        </a>
      </span>
      {chosenColumns.value.map((column, index) => (
        <span role="gridcell" class={`${columnClass(index)} soft small`} key={column}>
          {cellOf(row, column)}
        </span>
      ))}
      <Ways row={row} />
    </>
  );
}

// The one way this person is usually reached; all of them where the row has the pointer or the focus.
function Ways({ row }: { row: PersonRow }) {
  const tel = row.phone ? telUrl(row.phone) : null;
  const ways = [
    tel && { icon: "phone" as const, url: tel, label: t("Call {name}", { name: row.name }) },
    tel && { icon: "message" as const, url: tel.replace("tel:", "sms:"), label: t("Write {name} a message", { name: row.name }) },
    row.email && { icon: "mail" as const, url: mailUrl(row.email), label: t("Write {name} an e-mail", { name: row.name }) },
  ].filter((way) => way !== null && way !== "");
  return (
    <span role="gridcell" class="people-ways">
      {ways.map(({ icon, url, label }, index) => (
        <a key={icon} class={`button plain icon${index ? " people-more" : ""}`} tabIndex={-1} href={url} aria-label={label} title={label}>
          <Icon name={icon} />
        </a>
      ))}
    </span>
  );
}

let isTouch = false;
let pressedAt: [x: number, y: number] = [0, 0];

function Nobody({ hasWords, name }: { hasWords: boolean; name: string }) {
  return (
    <Empty kind={hasWords ? "note" : "touch"} title={hasWords ? t("Nobody is found.") : t("Nobody here yet")}>
      {!hasWords && <p>{t("Bring the people you have, or write down the first one.")}</p>}
      <div class="row">
        {name && (
          <a class="button" href={href(`/people/new?name=${encodeURIComponent(name)}`)}>
            {t("New person “{name}”", { name })}
          </a>
        )}
        {hasWords ? (
          <a class="button" href={href("/people")}>
            {t("Show everybody")}
          </a>
        ) : (
          <>
            <a class="button main" href={href("/import")}>
              {t("Bring them")}
            </a>
            <a class="button" href={href("/people/new")}>
              {t("New person")}
            </a>
          </>
        )}
      </div>
    </Empty>
  );
}
