// The answer of GET /api/map/markers, and the last one while there is no network.
import { useEffect, useMemo } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { useRemote } from "../../store/remote.ts";
import { keyOf, type ServedPlaces } from "./places.ts";

interface Marker {
  id: string; // of the entry
  personId: string;
  latitude: number;
  longitude: number;
  timezone: string | null;
  town: { name: string; country: string } | null;
}

// In short, as it is kept: coordinates to about a metre, zones and towns by their number.
interface Kept {
  names: string[];
  places: [key: string, latitude: number, longitude: number, town: number, zone: number][];
}

const NONE = -1;
const DIGITS = 1e5;

export function useServedPlaces(): { served: ServedPlaces; isReading: boolean; isAnswered: boolean } {
  const account = useAccount();
  const key = `usual ${account.id} map`; // removed when the account leaves this browser
  const [found] = useRemote("towns of the map", async (signal) => (await connection.ask("GET", "/api/map/markers", undefined, { signal }))["markers"] as Marker[]);
  const { data, problem } = found.value;
  const kept = useMemo(() => (data ? toKept(data) : readKept(key)), [data, key]);
  useEffect(() => {
    if (!data) return;
    try {
      localStorage.setItem(key, JSON.stringify(kept));
    } catch {
      localStorage.removeItem(key); // no room for it: offline the towns are those of addresses
    }
  }, [data, kept, key]);
  const served = useMemo<ServedPlaces>(() => {
    const name = (at: number) => kept?.names[at] ?? null;
    return new Map(kept?.places.map(([place, latitude, longitude, town, zone]) => [place, { at: [latitude, longitude], town: name(town), zone: name(zone) }]));
  }, [kept]);
  return { served, isReading: data === undefined && problem === null, isAnswered: kept !== null };
}

function toKept(markers: readonly Marker[]): Kept {
  const numbers = new Map<string, number>();
  const numberOf = (name: string | null | undefined) => {
    if (!name) return NONE;
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    return numbers.get(name)!;
  };
  const short = (degrees: number) => Math.round(degrees * DIGITS) / DIGITS;
  const places = markers.map(({ personId, id, latitude, longitude, town, timezone }): Kept["places"][number] => [keyOf(personId, id), short(latitude), short(longitude), numberOf(town?.name), numberOf(timezone)]);
  return { names: [...numbers.keys()], places };
}

function readKept(key: string): Kept | null {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") as Kept | null;
  } catch {
    return null;
  }
}
