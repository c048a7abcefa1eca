// What waits for an answer in a share, and what the user has chosen for each.
import { connection } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";

export interface Waiting {
  sharedId: string;
  name: string;
  photo: string | null;
  reason: "proposed" | "unsure" | "taken_out" | "merged" | "plan_limit" | "share_limit" | "held";
  personId?: string | null;
  candidates?: { personId: string; personName: string; score: number }[] | null;
  by: string;
  at: string;
  count?: number; // of what is held
}

export type Choice = { action: "link"; personId: string } | { action: "create" } | { action: "skip" };

const PART = 100;
const MOST_ITEMS = 500; // of one request

// All of it: what is not shown could not be answered as one.
export async function readWaiting(shareId: string, signal: AbortSignal, skipped = false): Promise<Waiting[]> {
  const found: Waiting[] = [];
  for await (const row of connection.pages(`/api/shares/${shareId}/waiting`, "waiting", { limit: PART, ...(skipped && { skipped: "true" }) }, { signal })) found.push({ ...row, by: row.by ?? t("Somebody who takes part") } as Waiting);
  return found;
}

export const isNewcomer = ({ reason }: Waiting) => reason === "proposed" || reason === "unsure";

// What is proposed; null where nobody can tell.
export function proposalOf({ reason, personId }: Waiting): Choice | null {
  if (reason !== "proposed") return null;
  return personId ? { action: "link", personId } : { action: "create" };
}

export interface Item {
  sharedId: string;
  action: string;
  personId?: string;
}

// The requests that say what is chosen. Whoever has no choice goes on waiting. The last one ends the review.
export function itemsOf(rows: readonly Waiting[], choiceOf: (row: Waiting) => Choice | null): { items?: Item[]; finish?: true }[] {
  const items = rows.flatMap((row): Item[] => {
    const choice = choiceOf(row);
    if (!choice) return [];
    return [isSame(choice, proposalOf(row)) ? { sharedId: row.sharedId, action: "accept" } : { sharedId: row.sharedId, ...choice }];
  });
  const parts: { items?: Item[]; finish?: true }[] = [];
  for (let at = 0; at < items.length; at += MOST_ITEMS) parts.push({ items: items.slice(at, at + MOST_ITEMS) });
  if (parts.length) parts[parts.length - 1]!.finish = true;
  return parts.length ? parts : [{ finish: true }];
}

export function isSame(one: Choice | null, other: Choice | null): boolean {
  return one?.action === other?.action && (one as { personId?: string } | null)?.personId === (other as { personId?: string } | null)?.personId;
}
