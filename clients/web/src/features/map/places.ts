// What the map shows: the places of people, from the copy, as GET /api/map/markers has them. Quiet people are not on it.
// Where the service knows only the town of an address, its place is the town's: that is asked for, and missing offline.
import type { Place, PersonRow } from "../../store/people.ts";

export interface Point {
  id: string; // of the entry
  person: PersonRow;
  at: readonly [latitude: number, longitude: number];
  label: string;
  town: string | null;
}

export interface Town {
  name: string | null; // null: places without a town
  entries: { person: PersonRow; place: Place }[];
}

export interface Places {
  points: Point[];
  towns: Town[];
  notFound: { person: PersonRow; place: Place }[];
  waiting: number;
  hasTowns: boolean; // whether any point is a town's
}

export type TownPlaces = ReadonlyMap<string, Point["at"]>; // by keyOf

export const keyOf = (personId: string, entryId: string) => `${personId} ${entryId}`;

export function placesOf(people: readonly PersonRow[], group: string | null, inTowns: TownPlaces): Places {
  const found: Places = { points: [], towns: [], notFound: [], waiting: 0, hasTowns: false };
  const towns = new Map<string, Town>();
  for (const person of people) {
    if (person.isQuiet || (group && !person.groupIds.includes(group))) continue;
    for (const place of person.places) {
      const { id, label, town, state } = place;
      const inTown = place.at ? undefined : inTowns.get(keyOf(person.id, id));
      const at = place.at ?? inTown;
      if (at) found.points.push({ id, person, at, label, town });
      if (inTown) found.hasTowns = true;
      if (state === "failed" && !inTown) found.notFound.push({ person, place });
      if (state === "pending" || state === "skipped") found.waiting++;
      const key = town?.trim().toLowerCase() ?? "";
      const known = towns.get(key);
      if (known) known.entries.push({ person, place });
      else towns.set(key, { name: town?.trim() || null, entries: [{ person, place }] });
    }
  }
  // Towns by name, what has none last.
  found.towns = [...towns.values()].sort((one, other) => Number(one.name === null) - Number(other.name === null) || (one.name ?? "").localeCompare(other.name ?? ""));
  return found;
}
