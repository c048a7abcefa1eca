// One box from everywhere: people first, then what can be done, groups, places, tools and settings. By keys alone, and offline.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isBoxOpen, isPeopleFirst, openAdd, personOnScreen } from "../../app/box.ts";
import { recentPeople } from "../../app/recent.ts";
import { navigate, place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { language, t, tn } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import type { PersonRow } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { isComposing } from "../../ui/keyboard.ts";
import { mailUrl } from "../people/reach.ts";
import { useReading } from "../add/useReading.ts";
import { callUrl, groupHits, type Hit, messageUrl, newPersonHit, pageHits, personHits, placeHits, understoodHits } from "./hits.ts";
import { Marked, marked } from "./marks.tsx";
import { Sheet } from "./Sheet.tsx";
import { shareCard } from "./share.ts";
import { type FoundPerson, isByName, useFound } from "./useFound.ts";

const MAX_PEOPLE = 6;
const MAX_PEOPLE_FIRST = 20;

interface Section {
  title: string;
  hits: Hit[];
}

export function Box() {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const [isEntered, setEntered] = useState(false); // before the field was there
  const list = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const peopleFirst = isPeopleFirst.value;
  const found = useFound(query, peopleFirst ? MAX_PEOPLE_FIRST : MAX_PEOPLE);
  const reading = useReading(query);
  const close = () => (isBoxOpen.value = false);
  const sections = useSections(query, found, reading, peopleFirst);
  const hits = sections.flatMap((section) => section.hits);
  const index = Math.min(at, hits.length - 1);
  const active = hits[index];
  const act = (hit: Hit | undefined) => {
    if (!hit) return;
    close();
    hit.act();
  };
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [index, hits.length]);
  useEffect(() => {
    if (isEntered && reading) act(active);
  }, [isEntered, reading]);
  const move = (step: number) => hits.length && setAt((index + step + hits.length) % hits.length);
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      field.current?.focus(); // also from the actions of a hit
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.target === field.current) act(active);
    // A number may begin with it.
    else if (event.key === "+" && query.trim() && !/^[\d\s()/+-]*$/.test(query)) {
      close();
      openAdd(query);
    } else return;
    event.preventDefault();
  };
  let shown = 0;
  return (
    <Sheet label={t("Search or do")} class="box" onClose={close} onEarly={(text, isEntered) => (setQuery(text), setEntered(isEntered))} onKeyDown={onKeyDown}>
      <div class="box-field">
        <Icon name="search" />
        <input
          ref={field}
          inputMode="search"
          role="combobox"
          aria-label={peopleFirst ? t("Search people") : t("Search or do")}
          aria-expanded={hits.length > 0}
          aria-controls="box-list"
          aria-autocomplete="list"
          aria-activedescendant={active ? `box-${index}` : undefined}
          placeholder={peopleFirst ? t("Name, number, town, note") : t("Name, number, or what to do")}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="go"
          maxLength={200}
          value={query}
          onInput={({ currentTarget }) => {
            setQuery(currentTarget.value);
            setAt(0);
          }}
        />
      </div>
      <div class="box-results" ref={list}>
        <div id="box-list" role="listbox" aria-label={t("Found")}>
          {sections.map(({ title, hits: part }) => (
            <div key={title} role="group" aria-label={title}>
              <p class="sheet-heading" aria-hidden="true">{title}</p>
              {part.map((hit) => {
                const number = shown++;
                return <Option key={hit.key} hit={hit} id={`box-${number}`} isActive={number === index} onAct={() => act(hit)} />;
              })}
            </div>
          ))}
        </div>
        {active?.person && <Actions row={active.person} close={close} option={`box-${index}`} />}
        {hits.length === 0 && <p class="box-empty">{t("Nothing is called so.")}</p>}
      </div>
      <p class="hidden-text" role="status">{query.trim() ? tn("{count} hit", "{count} hits", hits.length) : ""}</p>
      <div class="box-keys" aria-hidden="true">
        <span><kbd>↑</kbd> <kbd>↓</kbd> {t("choose")}</span>
        <span><kbd>Enter</kbd> {t("open")}</span>
        <span><kbd>Tab</kbd> {t("its actions")}</span>
        <span><kbd>+</kbd> {t("as a line")}</span>
        <span><kbd>Esc</kbd> {t("close")}</span>
      </div>
    </Sheet>
  );
}

function useSections(query: string, found: FoundPerson[], reading: ReturnType<typeof useReading>, peopleFirst: boolean): Section[] {
  const account = useAccount();
  const typed = query.trim();
  const words = fold(typed).split(" ").filter(Boolean);
  const onScreen = personOnScreen(place.value.path);
  const rest = useMemo(
    () => ({ groups: words.length ? groupHits(account, words) : [], places: words.length ? placeHits(words) : [], page: pageHits(words) }),
    [typed, account.groups.byId.value, account.people.value, language.value],
  );
  const understood = understoodHits(reading, query, onScreen ? [onScreen] : [], account);
  // A line that names people finds none by all of its words.
  const named = found.length === 0 && reading ? reading.people.flatMap(({ ids }) => ids.slice(0, 3)).flatMap((id) => account.person(id) ?? []) : [];
  const people = [...found, ...named.map((row) => ({ row, reason: null }))].map((each) => personHit(each, words));
  const best = found[0];
  const isNamed = best && typed && isByName(best.row, typed);
  const sections: Section[] = [
    { title: t("Do"), hits: peopleFirst ? [] : understood },
    { title: typed ? t("People") : recentPeople(account.id).length ? t("Opened last") : t("Favourites"), hits: people },
    { title: peopleFirst ? t("Do") : t("More to do"), hits: peopleFirst ? understood : [] },
    { title: best ? t("With {name}", { name: best.row.name }) : "", hits: isNamed && !understood.length ? personHits(account, best.row) : [] },
    { title: t("Groups"), hits: rest.groups },
    { title: t("Go to"), hits: rest.places },
    { title: t("On this page"), hits: rest.page },
    { title: t("New"), hits: typed && !understood.length && /^\D*$/.test(typed) && typed.split(/\s+/).length <= 4 ? [newPersonHit(typed)] : [] },
  ];
  // Who is called so goes before a place that is; a place that is called so before people who only have it in a text.
  const isPlace = rest.places.length > 0 && !peopleFirst && !isNamed;
  if (isPlace) sections.sort((one, other) => Number(other.title === t("Go to")) - Number(one.title === t("Go to")));
  return sections.filter(({ hits }) => hits.length > 0);
}

function personHit({ row, reason }: FoundPerson, words: readonly string[]): Hit & { reason: FoundPerson["reason"] } {
  const detail = [row.phone, [row.jobTitle, row.organization].filter(Boolean)[0], row.town].filter(Boolean).join(" · ");
  return { key: `person ${row.id}`, person: row, title: marked(row.name, words), detail, reason, act: () => navigate(`/people/${row.id}`) };
}

interface OptionProps {
  hit: Hit & { reason?: FoundPerson["reason"] };
  id: string;
  isActive: boolean;
  onAct: () => void;
}

function Option({ hit, id, isActive, onAct }: OptionProps) {
  const { person, icon, tone, hue, title, detail, reason, keyHint } = hit;
  return (
    // The field keeps the focus; what is chosen is said by aria-activedescendant.
    <div id={id} class={person ? "hit hit-person" : "hit"} role="option" aria-selected={isActive} onPointerDown={(event) => event.preventDefault()} onClick={onAct}>
      {person && <Avatar person={person} />}
      {icon && <span class={`tile ${tone}`}><Icon name={icon} size={16} /></span>}
      {hue && <span class={`dot ${hue}`} />}
      <span class="hit-text">
        <bdi class="hit-title"><Marked parts={title} /></bdi>
        {(reason || detail) && (
          <span class="hit-detail">
            {reason ? <>{reason.label && `${reason.label}: `}<Marked parts={reason.parts} /></> : detail}
          </span>
        )}
      </span>
      {keyHint && <kbd aria-hidden="true">{keyHint.toUpperCase()}</kbd>}
    </div>
  );
}

// What is done with the chosen person; Tab walks through it. It lies at the end of the row, of which it cannot be a part: an option
// of a list has no buttons. On a phone it stands below the results.
function Actions({ row, close, option }: { row: PersonRow; close: () => void; option: string }) {
  const account = useAccount();
  const group = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const chosen = document.getElementById(option);
    if (chosen) group.current!.style.insetBlockStart = `${chosen.offsetTop + (chosen.offsetHeight - group.current!.offsetHeight) / 2}px`;
  });
  const { name } = row;
  const [call, message] = [callUrl(account, row), messageUrl(row)];
  const then = (act: () => void) => () => {
    close();
    act();
  };
  return (
    <div ref={group} class="box-actions" role="group" aria-label={t("With {name}", { name })}>
      <bdi class="name cut" aria-hidden="true">{name}</bdi>
      {call && <a class="button" href={call} aria-label={t("Call {name}", { name })} onClick={() => setTimeout(close)}><Icon name="phone" size={18} />{t("Call")}</a>}
      {message && <a class="button icon" href={message} aria-label={t("Message {name}", { name })} title={t("Message {name}", { name })} onClick={() => setTimeout(close)}><Icon name="message" size={18} /></a>}
      {row.email && <a class="button icon" href={mailUrl(row.email)} aria-label={t("Mail {name}", { name })} title={t("Mail {name}", { name })} onClick={() => setTimeout(close)}><Icon name="mail" size={18} /></a>}
      <button type="button" class="icon" aria-label={t("Log a meeting with {name}", { name })} title={t("Log a meeting with {name}", { name })} onClick={then(() => openAdd("", [row.id], true))}><Icon name="log" size={18} /></button>
      <button type="button" class="icon" aria-label={t("Add a birthday of {name}", { name })} title={t("Add a birthday of {name}", { name })} onClick={then(() => openAdd(`${name} ${t("birthday|in a line")} `))}><Icon name="cake" size={18} /></button>
      <button type="button" class="icon" aria-label={t("Share {name}", { name })} title={t("Share {name}", { name })} onClick={then(() => void shareCard(account, row))}><Icon name="share" size={18} /></button>
    </div>
  );
}
