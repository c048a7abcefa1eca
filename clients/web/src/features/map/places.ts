// What the map shows: the places of people, from the copy, as GET /api/map/markers has them. Quiet people are not on it.
// Which town a place is in, and which clock it has, only the service knows: it is asked for, and offline the last answer holds.
import type { Place, PersonRow } from "../../store/people.ts";

export type At = readonly [latitude: number, longitude: number];

export interface Point {
  id: string; // of the entry
  person: PersonRow;
  at: At;
  label: string;
  town: string | null;
}

export interface Town {
  key: string;
  name: string | null; // null: places without a town
  zone: string | null; // IANA's name
  people: PersonRow[];
  points: Point[]; // where something of it is on the map
}

export interface Places {
  points: Point[];
  towns: Town[];
  unknown: { person: PersonRow; place: Place }[];
  waiting: number;
  hasTowns: boolean; // whether any point is a town's
}

// What the service says of a place, by keyOf.
export interface Served {
  at: At;
  town: string | null;
  zone: string | null;
}
export type ServedPlaces = ReadonlyMap<string, Served>;

export const keyOf = (personId: string, entryId: string) => `${personId} ${entryId}`;

// `isAnswered`: whether the service was asked, so that a place of which it says nothing is unknown.
export function placesOf(people: readonly PersonRow[], group: string | null, served: ServedPlaces, isAnswered: boolean): Places {
  const found: Places = { points: [], towns: [], unknown: [], waiting: 0, hasTowns: false };
  const towns = new Map<string, Town>();
  for (const person of people) {
    if (person.isQuiet || (group && !person.groupIds.includes(group))) continue;
    for (const place of person.places) {
      const said = served.get(keyOf(person.id, place.id));
      const at = place.at ?? said?.at;
      const name = said?.town ?? (place.town?.trim() || null);
      if (!place.at && said) found.hasTowns = true;
      if (!at && (isAnswered || place.state === "failed")) found.unknown.push({ person, place });
      if (place.state === "pending" || place.state === "skipped") found.waiting++;
      const key = name?.toLowerCase() ?? "";
      let town = towns.get(key);
      if (!town) towns.set(key, (town = { key, name, zone: null, people: [], points: [] }));
      town.zone ??= said?.zone ?? null;
      if (!town.people.includes(person)) town.people.push(person);
      if (!at) continue;
      const point = { id: place.id, person, at, label: place.label, town: name };
      town.points.push(point);
      found.points.push(point);
    }
  }
  // Towns with most people first, what has none last.
  found.towns = [...towns.values()].sort((one, other) => Number(one.name === null) - Number(other.name === null) || other.people.length - one.people.length || (one.name ?? "").localeCompare(other.name ?? ""));
  return found;
}
