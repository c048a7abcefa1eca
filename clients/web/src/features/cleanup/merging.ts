// Merging two people, taking it back, and saying that two are two. The service does it: the copy reads what has become.
import type { components } from "contacts-client";
import { navigate } from "../../app/router.ts";
import { connection } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";

type Schemas = components["schemas"];
export type Merge = Schemas["Merge"];
export type DuplicateGroup = Schemas["DuplicateGroup"];

const BATCH_SIZE = 100;

export const comparePath = (one: string, other: string) => `/duplicates/compare?one=${one}&other=${other}`;

// Throws RefusedError.
export async function mergePeople(account: Account, primaryId: string, secondaryId: string, fieldOverrides: object, name: string): Promise<void> {
  const { mergeId } = await connection.ask("POST", "/api/people/merge", { primaryId, secondaryId, fieldOverrides });
  account.syncer.syncNow();
  toast(t("{name} is one person now.", { name }), () => undoMerge(account, mergeId));
}

export async function undoMerge(account: Account, mergeId: string): Promise<void> {
  try {
    await connection.ask("POST", `/api/people/merge/${mergeId}/undo`);
    account.syncer.syncNow();
    toast(t("They are two people again."));
  } catch (error) {
    toast(problemOf(error).text);
  }
}

// Says that no two of these people are one. Throws RefusedError.
export async function dismiss(people: { id: string; name: string }[]): Promise<void> {
  const pairs = people.flatMap((one, index) => people.slice(index + 1).map((other) => ({ personAId: one.id, personBId: other.id })));
  for (let at = 0; at < pairs.length; at += BATCH_SIZE) {
    const operations = pairs.slice(at, at + BATCH_SIZE).map((body) => ({ method: "POST", path: "/api/people/duplicates/dismiss", body }));
    await connection.ask("POST", "/api/batch", { operations, atomic: true });
  }
  const [one, other] = people;
  // Said for good, but the two can still be compared and merged.
  toast(tn("{count} person is not suggested any more.", "{count} people are not suggested as one any more.", people.length), () => navigate(comparePath(one!.id, other!.id)), t("Compare them after all"));
}
