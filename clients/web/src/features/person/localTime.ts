// What the clock shows where a person lives, if it is another time than the user's.
import { isOffline } from "contacts-client";
import { useEffect, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { clockInWords, wallTime } from "../../i18n/days.ts";
import { countryCode } from "./addresses.ts";
import type { Person } from "./entries.ts";

const MAX_PEOPLE = 2000; // of an account whose map is asked for the zones: it looks up all addresses
let asked: { accountId: string; zones: Promise<Map<string, string>> } | null = null; // by the ids of entries

export function useLocalTime(person: Person): string | null {
  const account = useAccount();
  const [zone, setZone] = useState<string | null>(null);
  const [now, setNow] = useState(() => new Date());
  const entry = person.addresses.find(({ country, locality }) => country || locality);
  const country = entry?.country ? countryCode(entry.country) : null;
  useEffect(() => {
    setZone(country ? zoneOfCountry(country, now) : null);
    if (!entry || (country && zoneOfCountry(country, now)) || account.people.peek().length > MAX_PEOPLE || isOffline()) return;
    let isWanted = true;
    if (asked?.accountId !== account.id) asked = { accountId: account.id, zones: readZones() };
    asked.zones.then(
      (zones) => isWanted && setZone(zones.get(entry.id) ?? null),
      () => (asked = null),
    );
    return () => void (isWanted = false);
  }, [person.id, entry?.id, country]);
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 30_000);
    return () => clearInterval(timer);
  }, []);
  const own = account.settings.value.timezone;
  if (!zone || !own || wallTime(now, zone) === wallTime(now, own)) return null;
  return clockInWords(now, zone);
}

async function readZones(): Promise<Map<string, string>> {
  const { markers } = await connection.ask("GET", "/api/map/markers");
  return new Map((markers as { id: string; timezone: string | null }[]).flatMap(({ id, timezone }) => (timezone ? [[id, timezone] as const] : [])));
}

// The zone of a country, if all its zones show the same time now; without asking anybody.
export function zoneOfCountry(code: string, now: Date): string | null {
  try {
    const locale = new Intl.Locale(`und-${code}`) as Intl.Locale & { getTimeZones?: () => string[]; timeZones?: string[] };
    const zones = locale.getTimeZones?.() ?? locale.timeZones ?? [];
    return zones.length && new Set(zones.map((zone) => wallTime(now, zone))).size === 1 ? zones[0]! : null;
  } catch {
    return null;
  }
}
