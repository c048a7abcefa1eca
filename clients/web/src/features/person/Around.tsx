// Beside a person on a wide screen: who is around them as a small network, what to know before a call, and who lives in the same town.
import { useEffect, useMemo, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { addDays, nearDayInWords, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useChanges, useRecord, useRecordsOf } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { occurrenceInWords, occurrences } from "../dates/occurrences.ts";
import type { ImportantDate } from "./dates.ts";
import type { Person } from "./entries.ts";
import { linesOf } from "./Glance.tsx";
import { type Relationship, typeOfOther } from "./RelationshipDialog.tsx";
import "../dates/dates.css";
import "./person.css";

const MAX_AROUND = 8;
const MAX_NEIGHBOURS = 5; // in the same town
const NOTE_LINES = 2;
const COMING_DAYS = 60;
const USER = "user";

export default function Around({ params }: { params: Record<string, string> }) {
  const person = useRecord("person", params["id"]!).value;
  return person ? <AroundPerson key={person.id} person={person} /> : null;
}

interface Other {
  id: string;
  name: string;
  called: string;
  photo: string | null;
  label: string; // what they are to the person
}

function AroundPerson({ person }: { person: Person }) {
  const account = useAccount();
  const settings = account.settings.value;
  const types = account.relationshipTypes.byId.value;
  const rows = useRecordsOf("relationship", person.id).value ?? [];
  const others = rows
    .filter(({ until }) => !until)
    .flatMap(({ relatedPersonId, relationshipTypeId }): Other[] => {
      const row = account.person(relatedPersonId);
      if (!row) return [];
      return [{ id: row.id, name: row.name, called: row.parts.nickname || row.parts.name || row.name, photo: row.photo, label: typeOfOther(types.get(relationshipTypeId ?? "")) }];
    })
    .filter((other, index, all) => all.findIndex(({ id }) => id === other.id) === index)
    .slice(0, MAX_AROUND);
  const user: Other | false = person.relationshipToUserId !== null && { id: USER, name: t("You"), called: t("You"), photo: settings.photo ?? null, label: types.get(person.relationshipToUserId)?.label ?? "" };
  const known = useKnown(others.map(({ id }) => id));
  const now = today(settings.timezone);
  // A wedding is a day of the person, too.
  const own = (useRecordsOf("importantDate", person.id).value ?? []).filter(({ type }) => type === "ANNIVERSARY").map(({ date }) => date);
  const coming = useMemo(
    () => occurrences(account, known.dates.filter(({ type, date }) => type !== "ANNIVERSARY" || !own.includes(date)), now, addDays(now, COMING_DAYS)),
    [known, now, own.join(), account.peopleVersion.value],
  );
  const isToUser = ({ id }: Other) => account.person(id)?.toUserTypeId != null;
  const shown = user ? [...others, user] : others;
  const ties = [...tiesAmong(others, known.relationships), ...(user ? others.filter(isToUser).map(({ id }): Pair => [id, USER]) : [])];
  const name = person.nickname || person.name;
  const notes = linesOf(person.notes).slice(0, NOTE_LINES);
  const town = account.person(person.id)?.town ?? null;
  const nearby = useMemo(
    () => (town ? account.people.value.filter((row) => row.id !== person.id && !row.hasDied && row.town?.toLowerCase() === town.toLowerCase()) : []),
    [town, account.people.value, account.peopleVersion.value],
  );
  return (
    <div class="around-pane">
      <section class="section" aria-label={t("Around {name}", { name })}>
        <header>
          <h2>{t("Around {name}", { name })}</h2>
          {others.length > 0 && (
            <a class="button plain icon" href={href(`/people/${person.id}/network`)} aria-label={t("Their network")} title={t("Their network")}>
              <Icon name="whole" />
            </a>
          )}
        </header>
        {shown.length > 0 ? <Picture person={person} others={shown} ties={ties} /> : <p class="soft small">{t("Nobody is known around {name} yet.", { name })}</p>}
      </section>
      {notes.length + coming.length > 0 && (
        <section class="section" aria-label={t("Before you talk")}>
          <header>
            <h2>{t("Before you talk")}</h2>
          </header>
          <ul class="card lines before">
            {notes.map((line, index) => (
              <li key={index}>
                <span class="tile kind-note">
                  <Icon name="note" size={16} />
                </span>
                <bdi>{line}</bdi>
              </li>
            ))}
            {coming.slice(0, NOTE_LINES).map((each) => (
              <li key={each.id}>
                <span class="tile kind-date">
                  <Icon name={each.date?.type === "BIRTHDAY" ? "cake" : "calendar"} size={16} />
                </span>
                <span>
                  {occurrenceInWords(each)} <span class="soft small block capital">{nearDayInWords(each.day, now)}</span>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {town && nearby.length > 0 && (
        <section class="section" aria-label={t("Also in {town}", { town })}>
          <header>
            <h2>{t("Also in {town}", { town })}</h2>
            {nearby.length > MAX_NEIGHBOURS && (
              <a class="button plain small" href={href(`/people?q=${encodeURIComponent(town)}`)}>
                {t("All {count}", { count: nearby.length + 1 })}
              </a>
            )}
          </header>
          <ul class="card around">
            {nearest(nearby, others).map((row) => (
              <li key={row.id}>
                <a class="around-link" href={href(`/people/${row.id}`)}>
                  <Avatar person={row} />
                  <span class="around-text">
                    <span class="around-type">{others.find(({ id }) => id === row.id)?.label}</span>
                    <strong dir="auto">{row.name}</strong>
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

// The person in the middle, the others in a circle; violet lines to them, quiet ones among them.
function Picture({ person, others, ties }: { person: Person; others: readonly Other[]; ties: readonly Pair[] }) {
  const row = useAccount().person(person.id) ?? { id: person.id, name: person.name, photo: person.photo };
  const places = new Map(others.map(({ id }, index) => [id, placeOf(index, others.length)] as const));
  const line = ([x1, y1]: Place, [x2, y2]: Place, name: string, key: string) => <line key={key} class={name} x1={x1} y1={y1} x2={x2} y2={y2} vector-effect="non-scaling-stroke" />;
  return (
    <div class="card around-picture">
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        {ties.map(([one, other]) => line(places.get(one)!, places.get(other)!, "among", `${one} ${other}`))}
        {[...places].map(([id, at]) => line(MIDDLE, at, "tied", id))}
      </svg>
      <span class="around-middle">
        <Avatar person={row} size="big" />
      </span>
      <ul>
        {others.map((other) => {
          const [x, y] = places.get(other.id)!;
          const face = (
            <>
              <Avatar person={other} isUser={other.id === USER} />
              <bdi class="cut">{other.called}</bdi>
              <span class="hidden-text">{other.label}</span>
            </>
          );
          return (
            <li key={other.id} style={{ insetInlineStart: `${x}%`, insetBlockStart: `${y}%` }}>
              {other.id === USER ? face : <a href={href(`/people/${other.id}`)} title={`${other.name} · ${other.label}`}>{face}</a>}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

type Place = readonly [x: number, y: number];
const MIDDLE: Place = [50, 50];

// In percent of the picture; one alone stands at the side, not above.
function placeOf(index: number, count: number): Place {
  const angle = (2 * Math.PI * index) / count - (count < 3 ? 0 : Math.PI / 2);
  return [50 + 36 * Math.cos(angle), 50 + 36 * Math.sin(angle)];
}

type Pair = readonly [one: string, other: string];

function tiesAmong(others: readonly Other[], relationships: readonly Relationship[]): Pair[] {
  const ids = new Set(others.map(({ id }) => id));
  const found = new Map<string, Pair>();
  for (const { personId, relatedPersonId } of relationships) {
    if (!ids.has(personId) || !ids.has(relatedPersonId)) continue;
    const pair: Pair = personId < relatedPersonId ? [personId, relatedPersonId] : [relatedPersonId, personId];
    found.set(pair.join(), pair);
  }
  return [...found.values()];
}

// Those of the town, who are around the person first.
function nearest<T extends { id: string }>(rows: readonly T[], others: readonly Other[]): T[] {
  const isAround = ({ id }: T) => others.some((other) => other.id === id);
  return [...rows.filter(isAround), ...rows.filter((row) => !isAround(row))].slice(0, MAX_NEIGHBOURS);
}

interface Known {
  relationships: Relationship[];
  dates: ImportantDate[];
}

// The relationships and dates of some people, as they are and as they become.
function useKnown(ids: readonly string[]): Known {
  const { copy } = useAccount();
  const version = `${useChanges("relationship")} ${useChanges("importantDate")}`;
  const [known, setKnown] = useState<Known>({ relationships: [], dates: [] });
  useEffect(() => {
    let isWanted = true;
    const read = async () => {
      const relationships = await Promise.all(ids.map((id) => copy.of("relationship", id)));
      const dates = await Promise.all(ids.map((id) => copy.of("importantDate", id)));
      if (isWanted) setKnown({ relationships: relationships.flat(), dates: dates.flat() });
    };
    void read();
    return () => void (isWanted = false);
  }, [copy, ids.join(), version]);
  return known;
}
