// The towns beside the map: those in view, those further away with the time there, and what is known of the chosen one.
import { useEffect, useMemo, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { clockInWords, wallTime } from "../../i18n/days.ts";
import { formatList, formatNumber, t, tn } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import type { PersonRow } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { VirtualList } from "../../ui/VirtualList.tsx";
import { mailtoAll } from "../groups/members.ts";
import { PersonLink } from "../people/PersonLink.tsx";
import type { Places, Point, Town } from "./places.ts";

const ROW_HEIGHT = 60;
const FACES = 3;
const UNKNOWN_SHOWN = 50;
const PEOPLE_SHOWN = 100;

export const nameOf = ({ name }: Town) => name ?? t("Without a town");

// "14:20 there", where the clock shows something else than one's own.
export function clockThere(zone: string | null, ownZone: string | null): string | null {
  const now = new Date();
  return zone && wallTime(now, zone) !== wallTime(now, ownZone) ? t("{time} there", { time: clockInWords(now, zone) }) : null;
}

type Row = { heading: string } | { town: Town };

interface TownsProps {
  places: Places;
  words: string;
  isInView: (point: Point) => boolean;
  onTown: (town: Town) => void;
}

export function Towns({ places, words, isInView, onTown }: TownsProps) {
  const rows = useMemo<Row[]>(() => {
    const wanted = fold(words.trim());
    const isFound = ({ name, people }: Town) => !wanted || fold(name ?? "").includes(wanted) || people.some(({ search }) => search.includes(wanted));
    const towns = places.towns.filter(isFound);
    const near = towns.filter(({ points }) => points.some(isInView));
    const far = towns.filter((town) => !near.includes(town));
    const section = (heading: string, some: Town[]): Row[] => (some.length ? [{ heading }, ...some.map((town) => ({ town }))] : []);
    return [...section(t("In view"), near), ...section(near.length ? t("Further away") : t("Towns"), far)];
  }, [places, words, isInView]);
  return (
    <VirtualList
      label={t("People by town")}
      items={rows}
      rowHeight={ROW_HEIGHT}
      keyOf={(row) => ("town" in row ? `town ${row.town.key}` : row.heading)}
      textOf={(row) => fold("town" in row ? nameOf(row.town) : row.heading)}
      onOpen={(row) => "town" in row && onTown(row.town)}
      render={(row) => (
        <span role="gridcell" class="map-cell">
          {"town" in row ? <TownRow town={row.town} onTown={onTown} /> : <h2 class="map-heading">{row.heading}</h2>}
        </span>
      )}
    />
  );
}

function TownRow({ town, onTown }: { town: Town; onTown: (town: Town) => void }) {
  const account = useAccount();
  const { people, zone } = town;
  const rest = people.length - FACES;
  // Few are named, since they are what is looked for.
  const who = rest > 0 ? tn("{count} person", "{count} people", people.length) : formatList(people.map((person) => person.name));
  return (
    <button class="map-town" tabIndex={-1} onClick={() => onTown(town)}>
      <span class="grow map-text">
        <bdi class="cut">{nameOf(town)}</bdi>
        <span class="soft small cut">{[who, clockThere(zone, account.settings.value.timezone)].filter(Boolean).join(" · ")}</span>
      </span>
      <span class="pile">
        {people.slice(0, FACES).map((person) => (
          <Avatar key={person.id} person={person} size="small" />
        ))}
        {rest > 0 && <span class="soft small">+{formatNumber(rest)}</span>}
      </span>
    </button>
  );
}

interface ChosenProps {
  name: string;
  zone: string | null;
  people: readonly PersonRow[];
  labels: ReadonlyMap<string, string>; // by the person's id
  onClose: () => void;
}

export function ChosenTown({ name, zone, people, labels, onClose }: ChosenProps) {
  const account = useAccount();
  const [mail, setMail] = useState<string | null>(null);
  useEffect(() => {
    let isWanted = true;
    void mailtoAll(account, people).then(({ url }) => isWanted && setMail(url));
    return () => void (isWanted = false);
  }, [people]);
  return (
    <section class="stack tight" aria-label={t("Chosen")}>
      <div class="row nowrap">
        <div class="grow">
          <h2>
            <bdi>{name}</bdi>
          </h2>
          <span class="soft small">{[tn("{count} person", "{count} people", people.length), clockThere(zone, account.settings.value.timezone)].filter(Boolean).join(" · ")}</span>
        </div>
        <button class="plain icon" aria-label={t("Close")} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {mail && (
        <p>
          <a class="button tint" href={mail}>
            <Icon name="mail" />
            {t("Write to all")}
          </a>
        </p>
      )}
      <ul class="map-people">
        {people.slice(0, PEOPLE_SHOWN).map((person) => (
          <li key={person.id}>
            <PersonLink person={person}>{labels.get(person.id)}</PersonLink>
          </li>
        ))}
      </ul>
      {people.length > PEOPLE_SHOWN && <p class="soft small">{tn("{count} more", "{count} more", people.length - PEOPLE_SHOWN)}</p>}
    </section>
  );
}

// Addresses of which no place is known. The person's form is where to correct them.
export function Unknown({ places: { unknown } }: { places: Places }) {
  if (unknown.length === 0) return null;
  return (
    <details class="map-unknown">
      <summary>{tn("{count} address without a known town", "{count} addresses without a known town", unknown.length)}</summary>
      <ul class="plain-lines">
        {unknown.slice(0, UNKNOWN_SHOWN).map(({ person, place: { id, label } }) => (
          <li key={`${person.id} ${id}`} class="row apart nowrap">
            <span>
              <bdi>{person.name}</bdi>
              <span class="soft small block">{label}</span>
            </span>
            <a class="button" href={href(`/people/${person.id}?edit=contact`)} aria-label={t("Correct the address of {name}", { name: person.name })}>
              {t("Correct")}
            </a>
          </li>
        ))}
      </ul>
      {unknown.length > UNKNOWN_SHOWN && <p class="soft small">{tn("{count} more", "{count} more", unknown.length - UNKNOWN_SHOWN)}</p>}
    </details>
  );
}
