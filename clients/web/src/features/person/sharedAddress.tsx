// A changed address that others have too: a switch in its form moves them as well. Only online, since the service knows who.
import { isOffline } from "contacts-client";
import { useEffect, useState } from "preact/hooks";
import { connection } from "../../app/session.ts";
import { formatList, t } from "../../i18n/index.ts";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import type { Entry } from "./entries.ts";

const FIELDS = ["streetLine1", "streetLine2", "locality", "region", "postalCode", "country"] as const;

// Whether the others move as well, by the id of the entry.
export type Movers = Record<string, boolean>;

function isMoved(entry: Entry, seen: readonly Entry[]): boolean {
  const before = seen.find(({ id }) => id !== undefined && id === entry.id);
  return before !== undefined && FIELDS.some((field) => (before[field] || null) !== (entry[field] || null));
}

async function othersAt(personId: string, entryId: string): Promise<{ id: string; name: string }[]> {
  return (await connection.ask("GET", `/api/people/${personId}/addresses/${entryId}/shared`)).people;
}

interface Props {
  personId: string;
  entry: Entry;
  seen: readonly Entry[];
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

export function MoveOthers({ personId, entry, seen, isOn, onChange }: Props) {
  const [names, setNames] = useState<string[]>([]);
  const isAsked = isMoved(entry, seen) && !isOffline();
  useEffect(() => {
    if (!isAsked) return;
    // Without an answer the person moves alone.
    othersAt(personId, entry.id!).then((people) => setNames(people.map(({ name }) => name)), () => undefined);
  }, [isAsked, personId, entry.id]);
  if (!isAsked || names.length === 0) return null;
  return (
    <label class="check">
      <input type="checkbox" role="switch" class="switch" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>{t("Also change the address of {names}", { names: formatList(names) })}</span>
    </label>
  );
}

// Before the person's own address is sent, by which the service knows the others.
export async function moveOthers(personId: string, seen: readonly Entry[], addresses: readonly Entry[], movers: Movers): Promise<void> {
  for (const entry of addresses) {
    if (!entry.id || !movers[entry.id] || !isMoved(entry, seen) || isOffline()) continue;
    try {
      const personIds = (await othersAt(personId, entry.id)).map(({ id }) => id);
      const to = Object.fromEntries(FIELDS.map((field) => [field, entry[field] || null]));
      if (personIds.length) await connection.ask("POST", "/api/addresses/replace", { from: { personId, entryId: entry.id }, to, personIds });
    } catch (error) {
      // The person's own address is saved all the same.
      toast(problemOf(error).text);
    }
  }
}
