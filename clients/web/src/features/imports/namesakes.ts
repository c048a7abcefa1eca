// Who has the name of somebody new: perhaps the same person, which only the user can say.
import type { Account } from "../../store/account.ts";
import { fold } from "../../store/fold.ts";
import type { PersonRow } from "../../store/people.ts";
import type { Result } from "./files.ts";

// None of those who came with the same import.
export function namesakesOf(account: Account, results: readonly Result[]): ReadonlyMap<Result, PersonRow> {
  const own = new Set(results.flatMap(({ personId }) => personId ?? []));
  const known = new Map(account.people.value.filter(({ id }) => !own.has(id)).map((row) => [fold(row.name), row]));
  return new Map(
    results.flatMap((result) => {
      const isThere = result.status === "imported" && (!result.personId || account.person(result.personId) !== undefined); // and not joined since
      const row = isThere && result.name ? known.get(fold(result.name)) : undefined;
      return row ? [[result, row] as const] : [];
    }),
  );
}
