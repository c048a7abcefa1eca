// What waits for a decision: pairs of people, and chains of more than two, which are shown as their pairs once it is their turn.
import { connection } from "../../app/session.ts";
import { formatNumber, t } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { fold } from "../../store/fold.ts";
import type { DuplicateGroup } from "./merging.ts";

export interface Member {
  id: string;
  name: string;
}

export interface Waiting {
  people: Member[]; // two, or more of a chain; those that were made earlier first
  similarity: number;
}

interface Candidate {
  personId: string;
  name: string;
  similarity: number;
}

const MAX_ASKED = 100; // in one request

export const keyOf = ({ people }: Waiting) => people.map(({ id }) => id).join(".");
export const isChain = ({ people }: Waiting) => people.length > 2;

export async function readWaiting(signal: AbortSignal): Promise<Waiting[]> {
  const { groups } = await connection.ask("GET", "/api/people/duplicates", undefined, { signal });
  return groups as DuplicateGroup[];
}

// The pairs of a chain that are alike themselves, most similar first: a chain also joins the ends, who may be strangers.
export async function pairsOf({ people }: Waiting): Promise<Waiting[]> {
  const order = new Map(people.map((person, index) => [person.id, index]));
  const found = new Map<string, Waiting>();
  for (let at = 0; at < people.length; at += MAX_ASKED) {
    const asked = people.slice(at, at + MAX_ASKED);
    const operations = asked.map(({ id }) => ({ method: "GET", path: `/api/people/${id}/duplicates` }));
    const { results } = await connection.ask("POST", "/api/batch", { operations });
    for (const [index, { body }] of (results as { body: { duplicates?: Candidate[] } }[]).entries()) {
      for (const { personId, similarity } of body.duplicates ?? []) {
        if (!order.has(personId)) continue;
        const pair = [asked[index]!, people[order.get(personId)!]!].sort((one, other) => order.get(one.id)! - order.get(other.id)!);
        const waiting = { people: pair, similarity };
        found.set(keyOf(waiting), waiting);
      }
    }
  }
  return [...found.values()].sort((one, other) => other.similarity - one.similarity);
}

// What waits once somebody has gone into another: whoever the service takes for that one now comes next.
export async function afterJoin(rows: Waiting[], gone: string, into: Member, at: number): Promise<Waiting[]> {
  const left = rows.filter(({ people }) => !people.some(({ id }) => id === gone));
  const known = new Set(left.map(pairKey));
  const { duplicates } = await connection.ask("GET", `/api/people/${into.id}/duplicates`);
  const found = (duplicates as Candidate[]).map(({ personId, name, similarity }) => ({ people: [into, { id: personId, name }], similarity }));
  const isNew = (pair: Waiting) => !known.has(pairKey(pair)) && !left.some((row) => isChain(row) && row.people.some(({ id }) => id === pair.people[1]!.id));
  return left.toSpliced(at, 0, ...found.filter(isNew));
}

// The same for both orders.
const pairKey = ({ people }: Waiting) => people.map(({ id }) => id).sort().join(".");

// Why two are taken for one, as far as the rows of people tell it.
export function reasonsOf({ similarity }: Waiting, one: PersonRow | undefined, other: PersonRow | undefined): string[] {
  if (!one || !other) return [];
  const reasons: string[] = [];
  if (shares(one.digits.split(" ").map(lastDigits), other.digits.split(" ").map(lastDigits))) reasons.push(t("same number"));
  const mails = ({ search }: PersonRow) => search.split(" ").filter((word) => word.includes("@"));
  if (shares(mails(one), mails(other))) reasons.push(t("same mail address"));
  const [first, second] = [fold(one.name), fold(other.name)];
  if (first === second) reasons.push(t("same name"));
  else if (first.split(" ").sort().join() === second.split(" ").sort().join()) reasons.push(t("name in the other order"));
  else if (first.split(" ").some((word) => second.split(" ").includes(word))) reasons.push(t("almost the same name"));
  return reasons.length ? reasons : [t("{percent} % alike", { percent: formatNumber(Math.round(similarity * 100)) })];
}

const COMPARED_DIGITS = 8; // of a number, from its end: with and without the code of a country

function lastDigits(digits: string): string {
  return digits.length < COMPARED_DIGITS ? digits : digits.slice(-COMPARED_DIGITS);
}

function shares(some: string[], others: string[]): boolean {
  const known = new Set(some.filter(Boolean));
  return others.some((each) => known.has(each));
}
