// Answers about what is shared. Each is one request, which waits in the store of the account's copy: as long as it can be
// undone, and until there is a network. Its id is the Idempotency-Key, so it is executed once, however often it is sent.
import { signal } from "@preact/signals";
import { newId, RefusedError } from "contacts-client";
import { connection } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { type Account, type Answer, ANSWERS } from "../../store/account.ts";
import { problemOf } from "../../ui/problems.ts";
import { messageMilliseconds, toast } from "../../ui/toast.tsx";

type Body = Record<string, any>;
type Outcomes = Map<string, Body | RefusedError>;

const MARGIN_MILLISECONDS = 1_000; // an undo that is pressed last still comes in time
const LATER_STATUSES = [429, 502, 503, 504];

// What was answered, and may still stand in what was read before.
export const answered = signal<ReadonlySet<string>>(new Set());

async function keep(account: Account, given: Omit<Answer, "id">): Promise<Answer> {
  const answer = { id: newId(), ...given };
  await account.store.write([{ table: "facts", key: `${ANSWERS}${answer.id}`, row: JSON.stringify(answer) }]);
  await account.readAnswers();
  return answer;
}

// What is neither answered nor about to be.
export function withoutAnswered<R>(account: Account, rows: R[], idOf: (row: R) => string): R[] {
  const gone = new Set([...answered.value, ...account.answers.value.flatMap(({ about }) => about)]);
  return rows.filter((row) => !gone.has(idOf(row)));
}

// Reads anew: what is asked after the answer is a new question.
export async function readAnew(reload: () => Promise<void>): Promise<void> {
  const before = answered.peek();
  await reload();
  answered.value = new Set([...answered.peek()].filter((id) => !before.has(id)));
}

async function drop(account: Account, { id }: Answer): Promise<void> {
  await account.store.write([{ table: "facts", key: `${ANSWERS}${id}` }]);
  await account.readAnswers();
}

// Takes an answer back, unless it was sent.
export async function takeBackAnswer(account: Account, answer: Answer): Promise<void> {
  await account.readAnswers();
  if (account.answers.peek().some(({ id }) => id === answer.id)) await drop(account, answer);
  else toast(t("That is sent already."));
}

// Sends an answer now. Returns the body of the response, or null if it is kept until there is a network. Throws RefusedError.
export async function giveAnswer(account: Account, given: Omit<Answer, "id">): Promise<Body | null> {
  const answer = await keep(account, given);
  const outcome = (await sendAnswers(account)).get(answer.id);
  if (outcome instanceof RefusedError) throw outcome;
  return outcome ?? (account.answers.value.some(({ id }) => id === answer.id) ? null : {});
}

// Says at once that it is answered, and sends it when it cannot be undone any more, or when the page is left.
export async function giveWithUndo(account: Account, given: Omit<Answer, "id">): Promise<void> {
  const answer = await keep(account, { ...given, heldUntil: Date.now() + messageMilliseconds() + MARGIN_MILLISECONDS });
  toast(given.text, () => takeBackAnswer(account, answer));
  sendWhenDue(account);
}

// Sends those that can still be undone once they cannot any more.
function sendWhenDue(account: Account): void {
  const next = Math.min(...account.answers.peek().map(({ heldUntil = Infinity }) => heldUntil));
  clearTimeout(timer);
  if (Number.isFinite(next)) timer = setTimeout(() => void sendAndTell(account), Math.max(0, next - Date.now()) + 1);
}

let timer: ReturnType<typeof setTimeout> | undefined;

// Sends what waits. What the service does not take is said, and forgotten.
export async function sendAndTell(account: Account, isLeaving = false): Promise<void> {
  const texts = new Map(account.answers.peek().map(({ id, text }) => [id, text]));
  for (const [id, outcome] of await sendAnswers(account, isLeaving)) {
    const problem = outcome instanceof RefusedError ? problemOf(outcome).text : outcome["errors"]?.[0]?.error;
    if (problem) toast(t("{what} {problem}", { what: texts.get(id) ?? "", problem }));
  }
  if (account.answers.peek().some(({ heldUntil = 0 }) => heldUntil > Date.now())) sendWhenDue(account);
}

// They cannot be undone any more.
async function release(account: Account): Promise<void> {
  const held = account.answers.peek().filter(({ heldUntil }) => heldUntil);
  if (held.length) await account.store.write(held.map(({ heldUntil: _, ...answer }) => ({ table: "facts" as const, key: `${ANSWERS}${answer.id}`, row: JSON.stringify(answer) })));
  await account.readAnswers();
}

// In order, and by one tab at a time. `isLeaving`: also those that could still be undone.
async function sendAnswers(account: Account, isLeaving = false): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const work = async () => {
    await account.readAnswers();
    if (isLeaving) await release(account);
    for (const answer of account.answers.peek()) {
      if ((answer.heldUntil ?? 0) > Date.now()) continue;
      try {
        outcomes.set(answer.id, await connection.ask("POST", answer.path, answer.body, { headers: { "Idempotency-Key": answer.id } }));
        answered.value = new Set([...answered.peek(), ...answer.about]);
      } catch (error) {
        if (!(error instanceof RefusedError) || LATER_STATUSES.includes(error.status) || error.status === 401) break;
        outcomes.set(answer.id, error);
      }
      await drop(account, answer);
    }
  };
  await (account.store.withLock?.("sync", work) ?? work());
  if (outcomes.size) account.syncer.syncNow();
  return outcomes;
}
