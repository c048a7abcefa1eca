// The time as the page shows it, and what a clock shows where a person lives.
import { useEffect, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { clockInWords, type Day, wallTime } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { countryCode } from "../person/addresses.ts";
import type { Person } from "../person/entries.ts";
import { zoneOfCountry } from "../person/localTime.ts";

const STEP_MILLISECONDS = 15_000;
const MINUTE_MILLISECONDS = 60_000;

// Renewed with each minute.
export function useMinute(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => {
      const next = new Date();
      setNow((before) => (minuteOf(before) === minuteOf(next) ? before : next));
    }, STEP_MILLISECONDS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function minuteOf(time: Date): number {
  return Math.floor(time.getTime() / MINUTE_MILLISECONDS);
}

export function hourIn(now: Date, zone: string | null): number {
  return Number(wallTime(now, zone).slice(11, 13));
}

const MAX_PEOPLE = 2000; // of an account whose map is asked: it looks up all addresses

export interface LivesIn {
  zone: string;
  town: string | null;
}

// Where somebody lives, by the country of their address, if its clocks all show the same.
export function livesInCountry(person: Person | undefined, now: Date): LivesIn | null {
  const entry = person?.addresses.find(({ country }) => country);
  const code = entry?.country ? countryCode(entry.country) : null;
  const zone = code ? zoneOfCountry(code, now) : null;
  return zone ? { zone, town: entry!.locality } : null;
}

// Where others of today live, by the places that the service knows. It is asked once a day, and only if any of them has a
// place; without a network it is what was answered before.
export function useZones(rows: readonly PersonRow[], day: Day): ReadonlyMap<string, LivesIn> {
  const account = useAccount();
  const key = `draft ${account.id} zones`; // removed with the drafts when the account leaves this browser
  const [found, setFound] = useState<ReadonlyMap<string, LivesIn>>(() => read(key, day));
  const wanted = rows.filter(({ places }) => places.length > 0).map(({ id }) => id);
  const isKnown = wanted.length === 0 || account.people.value.length > MAX_PEOPLE || wanted.every((id) => found.has(id));
  useEffect(() => {
    if (isKnown) return;
    const controller = new AbortController();
    const ask = async () => {
      const { markers } = await connection.ask("GET", "/api/map/markers", undefined, { signal: controller.signal });
      const zones = new Map<string, LivesIn>(wanted.map((id) => [id, { zone: "", town: null }])); // known to be unknown
      for (const { personId, timezone, town } of markers as { personId: string; timezone: string | null; town: { name: string } | null }[]) {
        if (timezone && zones.get(personId)?.zone === "") zones.set(personId, { zone: timezone, town: town?.name ?? null });
      }
      localStorage.setItem(key, JSON.stringify([day, [...zones]]));
      setFound(zones);
    };
    ask().catch(() => undefined); // the time is left out
    return () => controller.abort();
  }, [isKnown, wanted.join(), day]);
  return found;
}

function read(key: string, day: Day): ReadonlyMap<string, LivesIn> {
  const [since, zones] = JSON.parse(localStorage.getItem(key) ?? "[]") as [Day?, [string, LivesIn][]?];
  return new Map(since === day ? zones : []);
}

const [EARLIEST, LATEST] = [9, 21]; // hours at which a call disturbs nobody

// "18:50 in Bengaluru: a good hour to call". The town alone where the clock shows the same, or is not known.
export function localTimeInWords(now: Date, ownZone: string | null, row: PersonRow, lives: LivesIn | null | undefined): string | null {
  const town = lives?.town ?? row.town;
  if (!town) return null;
  if (!lives?.zone || wallTime(now, lives.zone) === wallTime(now, ownZone)) return t("Lives in {town}", { town });
  const values = { time: clockInWords(now, lives.zone), town };
  const hour = hourIn(now, lives.zone);
  return hour >= EARLIEST && hour < LATEST ? t("{time} in {town}: a good hour to call", values) : t("{time} in {town}: rather write", values);
}
