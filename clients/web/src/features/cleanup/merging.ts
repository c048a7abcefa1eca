// Merging two people, taking it back, and saying that two are two. The service does it: the copy reads what has become.
import type { components } from "contacts-client";
import { navigate } from "../../app/router.ts";
import { connection } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";

type Schemas = components["schemas"];
export type Merge = Schemas["Merge"];
export type DuplicateGroup = Schemas["DuplicateGroup"];

export const comparePath = (one: string, other: string) => `/duplicates/compare?one=${one}&other=${other}`;

// Throws RefusedError.
export async function mergePeople(account: Account, primaryId: string, secondaryId: string, fieldOverrides: object, name: string, onUndone?: () => unknown): Promise<void> {
  const { mergeId } = await connection.ask("POST", "/api/people/merge", { primaryId, secondaryId, fieldOverrides });
  account.syncer.syncNow();
  toast(t("{name} is one person now.", { name }), () => undoMerge(account, mergeId, onUndone));
}

export async function undoMerge(account: Account, mergeId: string, onUndone?: () => unknown): Promise<void> {
  try {
    await connection.ask("POST", `/api/people/merge/${mergeId}/undo`);
    account.syncer.syncNow();
    toast(t("They are two people again."));
    onUndone?.();
  } catch (error) {
    toast(problemOf(error).text);
  }
}

// Says that two are two. Throws RefusedError.
export async function dismiss(one: string, other: string): Promise<void> {
  await connection.ask("POST", "/api/people/duplicates/dismiss", { personAId: one, personBId: other });
  // Said for good, but the two can still be compared and joined.
  toast(t("They are not suggested as one any more."), () => navigate(comparePath(one, other)), t("Compare them after all"));
}
