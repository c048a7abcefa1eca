// What there was with whom on a day: from the copy. Today's cards are done with those who have an entry of the day, so
// nothing more is stored.
import { useEffect, useMemo } from "preact/hooks";
import { type ReadonlySignal, signal } from "@preact/signals";
import { LiveTable } from "contacts-client";
import { useAccount } from "../../app/session.ts";
import { type Day, dayOf } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { toast } from "../../ui/toast.tsx";
import { type Interaction, type Kind, kindLabel } from "../person/interactions.ts";

interface Touch {
  id: string;
  at: string;
  day: Day;
  personIds: string[];
  hasText: boolean;
}

export interface Touches {
  today: ReadonlySet<string>; // people with an entry of the day
  latest: string[]; // ids of entries, the latest first
  memory: string | null; // the latest entry with a text of this day in an earlier year
}

const LATEST = 3;

// Undefined while they are read. Little is kept of each, as an account may have ten thousands.
export function useTouches(now: Day, zone: string | null): ReadonlySignal<Touches | undefined> {
  const { copy } = useAccount();
  const value = useMemo(() => signal<Touches | undefined>(undefined), [copy, now, zone]);
  useEffect(() => {
    const toTouch = ({ id, at, personIds, title, notes }: Interaction): Touch => ({ id, at, day: dayOf(at, zone), personIds, hasText: Boolean(title || notes) });
    const table = new LiveTable(copy, "interaction", toTouch, () => (value.value = touchesOf([...table.rows.values()], now)));
    void table.open();
    return () => table.close();
  }, [copy, now, zone]);
  return value;
}

function touchesOf(all: readonly Touch[], now: Day): Touches {
  const today = new Set<string>();
  let latest: Touch[] = [];
  let memory: Touch | null = null;
  for (const touch of all) {
    if (touch.day === now) for (const id of touch.personIds) today.add(id);
    if (touch.day <= now && (latest.length < LATEST || touch.at > latest.at(-1)!.at)) {
      latest = [...latest, touch].sort((one, other) => (one.at > other.at ? -1 : 1)).slice(0, LATEST);
    }
    const isMemory = touch.hasText && touch.day.slice(5) === now.slice(5) && touch.day < now;
    if (isMemory && (memory === null || touch.at > memory.at)) memory = touch;
  }
  return { today, latest: latest.map(({ id }) => id), memory: memory?.id ?? null };
}

// By which way somebody was reached here, for what "Done" logs.
const reached = new Map<string, Kind>();

export function rememberReached(personId: string, kind: Kind): void {
  reached.set(personId, kind);
}

const beingLogged = new Set<string>();

// Logs that there was contact today, once a day however often it is pressed.
export async function logOnce(account: Account, people: readonly { id: string; name: string }[], now: Day): Promise<void> {
  const [first] = people;
  if (!first || beingLogged.has(first.id)) return;
  beingLogged.add(first.id);
  try {
    const { timezone } = account.settings.value;
    const known = await Promise.all(people.map(({ id }) => account.copy.of("interaction", id)));
    const left = people.filter((_, index) => !known[index]!.some(({ at }) => dayOf(at, timezone) === now));
    if (left.length === 0) return toast(t("{name} has an entry of today already.", { name: first.name }));
    const kind = reached.get(first.id) ?? "OTHER";
    const id = await account.copy.create("interaction", { personIds: left.map((person) => person.id), kind, at: new Date().toISOString() });
    toast(t("Logged: {kind}", { kind: kindLabel(kind) }), () => account.copy.delete("interaction", id));
  } finally {
    beingLogged.delete(first.id);
  }
}
