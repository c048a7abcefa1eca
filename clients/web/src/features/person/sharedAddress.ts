// A changed address that others have too: asks whether theirs changes as well. Only online, since the service knows who.
import { isOffline } from "contacts-client";
import { connection } from "../../app/session.ts";
import { formatList, t } from "../../i18n/index.ts";
import { confirm } from "../../ui/confirm.tsx";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import type { Entry } from "./entries.ts";

const FIELDS = ["streetLine1", "streetLine2", "locality", "region", "postalCode", "country"] as const;

export async function askForShared(personId: string, seen: Entry[], addresses: Entry[] | undefined): Promise<void> {
  if (!addresses || isOffline()) return;
  for (const entry of addresses) {
    const before = seen.find(({ id }) => id !== undefined && id === entry.id);
    if (!before || FIELDS.every((field) => (before[field] || null) === (entry[field] || null))) continue;
    try {
      const { people } = await connection.ask("GET", `/api/people/${personId}/addresses/${entry.id}/shared`);
      if (people.length === 0) continue;
      const names = formatList(people.map(({ name }: { name: string }) => name));
      if (!(await confirm(t("Others have this address, too"), t("{names} had the same address. Change theirs as well?", { names }), t("Change all")))) continue;
      const to = Object.fromEntries(FIELDS.map((field) => [field, entry[field] || null]));
      const personIds = people.map(({ id }: { id: string }) => id);
      await connection.ask("POST", "/api/addresses/replace", { from: { personId, entryId: entry.id }, to, personIds });
    } catch (error) {
      // The person's own address is saved all the same.
      toast(problemOf(error).text);
    }
  }
}
