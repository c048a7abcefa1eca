// Answers to proposed meetings, sent together where they say the same. A repeated one changes nothing: the service says then
// what was answered before, so a lost response needs no key.
import type { Connection } from "./connection.ts";
import { bodyOf } from "./errors.ts";
import { PROPOSAL } from "./kinds.ts";
import { dropEdit, type LocalData } from "./localData.ts";
import { isSame } from "./merge.ts";
import type { AnswerAction, Change, Edit, Fields } from "./store.ts";

const MAX_TOGETHER = 100;
// Of so many accepted meetings the copy remembers the interaction, to take them back.
const LOGGED_KEPT = 100;
const LOGGED = "logged";

export function isAnswer({ action }: Edit): boolean {
  return action === "accept" || action === "dismiss";
}

export function isHeld({ heldUntil }: Edit): boolean {
  return (heldUntil ?? 0) > Date.now();
}

// Those of `edits` that go with this answer: if it names nobody, as who is named may be made by an edit between.
export function together(edit: Edit, edits: readonly Edit[]): Edit[] {
  const { personIds, createPeople } = edit.body;
  if (personIds || createPeople) return [];
  const same = (each: Edit) => each.action === edit.action && each.state !== "refused" && !isHeld(each) && isSame(each.body, edit.body);
  return edits.filter((each) => each.number > edit.number && same(each)).slice(0, MAX_TOGETHER - 1);
}

// Returns the response if it is a refusal. `answers` say the same.
export async function sendAnswers(
  data: LocalData,
  connection: Connection,
  answers: readonly Edit[],
  signal: AbortSignal | undefined,
): Promise<Response | null> {
  const { action, body } = answers[0]!;
  const ids = answers.map(({ id }) => id);
  const response = await connection.request("POST", `/api/meeting-proposals/${action}`, { ...body, ids }, { signal });
  if (!response.ok) return response;
  const { interactions = [], errors = [] } = (await bodyOf(response)) as unknown as Answered;
  const logged = [...interactions.map(({ id, proposalId }) => [proposalId, id]), ...errors.map((each) => [each.proposalId, each.interactionId])];
  await data.change("sync", async (writes) => {
    for (const answer of answers) {
      writes.push(dropEdit(answer));
      await data.removeRecord(writes, PROPOSAL, answer.id);
    }
    if (logged.length) await noteLogged(data, writes, logged as [string, string | null][]);
  });
  return null;
}

interface Answered {
  interactions?: { id: string; proposalId: string }[];
  errors?: { proposalId: string; interactionId: string | null }[];
}

async function noteLogged(data: LocalData, writes: Change[], logged: [string, string | null][]): Promise<void> {
  const kept = Object.entries({ ...(await readLogged(data)), ...Object.fromEntries(logged) }).slice(-LOGGED_KEPT);
  writes.push({ table: "facts", key: LOGGED, row: JSON.stringify(Object.fromEntries(kept)) });
}

async function readLogged(data: LocalData): Promise<Record<string, string | null>> {
  return JSON.parse(String((await data.store.get("facts", LOGGED)) ?? "{}"));
}

// The interaction that an accepted proposal has become.
export async function interactionOf(data: LocalData, proposalId: string): Promise<string | null> {
  return (await readLogged(data))[proposalId] ?? null;
}

// An answer to a proposal as it is seen.
export async function addAnswer(
  data: LocalData,
  writes: Change[],
  proposalId: string,
  action: AnswerAction,
  body: Fields,
  heldUntil = 0,
): Promise<void> {
  const base = await data.current(PROPOSAL, proposalId);
  if (base === undefined) return; // answered meanwhile
  await data.addEdit(writes, PROPOSAL, proposalId, action, { base, body, ...(heldUntil && { heldUntil }) });
}
