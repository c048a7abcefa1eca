// A copy of the account that is read and edited without the network, and synced when there is one (docs/clients.md).
import { bodyOf, type Connection, RefusedError, success } from "./connection.ts";
import { newId } from "./ids.ts";
import { identified, isSame, merge } from "./merge.ts";
import type { Action, Change, Conflict, Edit, Fields, RecordRow, Store, Turn } from "./store.ts";

const PAGE = 500;

// The kinds of records that a copy may edit: the path of the list, with names of fields in it, and what the answer of
// one repeats of other records, which the change feed leaves out.
const KINDS: Record<string, { path: string; ofOthers?: string[] }> = {
  customFieldTemplate: { path: "/api/custom-field-templates" },
  group: { path: "/api/groups", ofOthers: ["people"] },
  importantDate: { path: "/api/people/{personId}/important-dates" },
  interaction: { path: "/api/interactions" },
  person: { path: "/api/people", ofOthers: ["groups", "relationshipToUser", "relationships", "importantDates"] },
  relationship: { path: "/api/relationships" },
  relationshipType: { path: "/api/relationship-types" },
};

export interface SyncReport {
  pulled: number;
  pushed: number;
  conflicts: number;
  refused: number;
}

// Reads and edits go to the store; `sync` brings both sides together, and may be broken off at any point.
export class Copy {
  readonly #store: Store;
  readonly #connection: Connection;
  readonly #last = new Map<Turn, Promise<unknown>>();
  #isChecked = false; // the connection is of the copy's account
  #report: SyncReport = { pulled: 0, pushed: 0, conflicts: 0, refused: 0 };

  constructor(store: Store, connection: Connection) {
    this.#store = store;
    this.#connection = connection;
  }

  // What the user sees: records with the edits that wait.

  async get(type: string, id: string): Promise<Fields | undefined> {
    const known = await this.#store.get("records", `${type}/${id}`);
    return shown(known?.record, await this.#edits(type, id));
  }

  async all(type: string): Promise<Fields[]> {
    const found = new Map<unknown, Fields | undefined>();
    for (const row of await this.#store.all("records")) if (row.type === type) found.set(row.id, row.record);
    for (const edit of await this.#edits(type)) found.set(edit.id, shown(found.get(edit.id), [edit]));
    return [...found.values()].filter((record) => record !== undefined);
  }

  conflicts(): Promise<Conflict[]> {
    return this.#store.all("conflicts");
  }

  async refused(): Promise<Edit[]> {
    return (await this.#edits()).filter((edit) => edit.state === "refused");
  }

  // What the user does.

  async create(type: string, body: Fields): Promise<string> {
    const id = String(body["id"] ?? newId());
    await this.#change((to) => this.#add(to, type, id, "create", { body: { ...body, id } }));
    return id;
  }

  // A list replaces the list. Throws where there is no such record.
  update(type: string, id: string, changes: Fields): Promise<void> {
    return this.#change((to) => this.#update(to, type, id, changes));
  }

  delete(type: string, id: string): Promise<void> {
    return this.#change((to) => this.#delete(to, type, id));
  }

  // End a conflict: with the service's value, or by a new edit that brings the user's.
  resolve({ key }: Conflict, keep: "mine" | "theirs"): Promise<void> {
    return this.#change(async (to) => {
      // As it is by now: its record may have been made anew under another id. One that has ended stays so.
      const conflict = await this.#store.get("conflicts", key);
      to.push({ table: "conflicts", key });
      if (keep === "theirs" || conflict === undefined) return;
      const { type, id, field } = conflict;
      const isThere = (await this.get(type, id)) !== undefined;
      const mine = field === null ? (conflict.mine as Fields) : { [field]: conflict.mine };
      if (conflict.action === "delete") return isThere ? this.#delete(to, type, id) : undefined;
      if (isThere) return this.#update(to, type, id, mine);
      const known = await this.#store.get("records", `${type}/${id}`); // where its deletion waits here
      const base = field === null ? (conflict.base as Fields) : (known?.record ?? {});
      await this.#add(to, type, id, "restore", { base, body: mine });
    });
  }

  // Give up an edit that was refused; with a create goes what was done to its record since.
  discard(edit: Edit): Promise<void> {
    return this.#change(async (to) => {
      const gone = edit.action === "create" ? await this.#edits(edit.type, edit.id) : [edit];
      for (const { number } of gone) to.push({ table: "edits", key: keyOf(number) });
    });
  }

  // Have an edit that was refused sent again, with these fields changed. Throws where the id is another.
  async amend(edit: Edit, changes: Fields): Promise<void> {
    if ((changes["id"] ?? edit.id) !== edit.id) throw new Error("an edit keeps its id: discard it and create the record anew");
    const body = { ...edit.body, ...changes };
    const again = { ...edit, body, idempotencyKey: newId(), state: "waiting" as const, problem: null };
    return this.#change(async (to) => void to.push(put(again)));
  }

  // Both sides together. Throws RefusedError (401: sign in again) and TypeError; what was done until then stays done.

  sync(): Promise<SyncReport> {
    return this.#alone("sync", async () => {
      this.#report = { pulled: 0, pushed: 0, conflicts: 0, refused: 0 };
      await this.pull();
      if (await this.push()) await this.pull();
      return this.#report;
    });
  }

  // Follow the feed to its end, each page in one write with its cursor.
  async pull(): Promise<void> {
    for (let more = true; more; ) {
      const cursor = await this.#store.get("facts", "cursor");
      if (cursor === undefined) await this.#checkAccount(); // nothing tells the service whose copy this is
      const query = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const answer = await this.#connection.request("GET", `/api/changes?limit=${PAGE}${query}`);
      if (answer.status === 410 && cursor !== undefined) {
        await this.#checkAccount();
        await this.#beginAnew();
        continue;
      }
      const page = await success(answer);
      this.#isChecked = true;
      await this.#takeOver(page);
      more = page["hasMore"];
    }
  }

  // Send the edits that wait, in their order; how many were sent.
  async push(): Promise<number> {
    let sent = 0;
    if (!this.#isChecked && (await this.#edits()).length) await this.#checkAccount();
    for (let number = 0; ; ) {
      const edit = (await this.#edits()).find((each) => each.number > number);
      if (edit === undefined) break;
      number = edit.number;
      if (edit.state === "refused" || (await this.#isHeldUp(edit))) continue;
      if (await this.#send(edit)) sent++;
    }
    this.#report.pushed += sent;
    return sent;
  }

  // One change of the store after the other, each a single write.
  #change(work: (to: Change[]) => Promise<void>): Promise<void> {
    return this.#alone("change", async () => {
      const changes: Change[] = [];
      await work(changes);
      await this.#store.write(changes);
    });
  }

  // After all work of this kind that was asked for before, here and by other programs on the store.
  #alone<T>(kind: Turn, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(kind) ?? Promise.resolve();
    const done = before.then(() => this.#store.alone?.(kind, work) ?? work());
    this.#last.set(
      kind,
      done.catch(() => undefined),
    );
    return done;
  }

  async #edits(type?: string, id?: string): Promise<Edit[]> {
    const every = await this.#store.all("edits");
    return every.filter((edit) => (type ?? edit.type) === edit.type && (id ?? edit.id) === edit.id);
  }

  async #add(to: Change[], type: string, id: string, action: Action, given: Partial<Edit>): Promise<void> {
    if (!KINDS[type]) throw new Error(`a copy does not edit records of type ${type}`);
    const number = Number((await this.#store.get("facts", "lastNumber")) ?? 0) + 1;
    const idempotencyKey = crypto.randomUUID();
    const empty = { base: {}, body: {}, etag: null, problem: null, state: "waiting" as const };
    to.push({ table: "facts", key: "lastNumber", row: number });
    to.push(put({ ...empty, number, idempotencyKey, type, id, action, ...given }));
  }

  async #update(to: Change[], type: string, id: string, changes: Fields): Promise<void> {
    const record = await this.#seen(type, id);
    const last = (await this.#edits()).at(-1);
    const isMore = last?.type === type && last.id === id && last.state === "waiting";
    if (isMore && (last.action === "create" || last.action === "update")) {
      to.push(put({ ...last, base: { ...seen(record, changes), ...last.base }, body: { ...last.body, ...changes } }));
    } else {
      await this.#add(to, type, id, "update", { base: seen(record, changes), body: changes });
    }
  }

  async #delete(to: Change[], type: string, id: string): Promise<void> {
    const known = await this.#store.get("records", `${type}/${id}`);
    await this.#add(to, type, id, "delete", { base: await this.#seen(type, id), etag: known?.etag ?? null });
  }

  async #seen(type: string, id: string): Promise<Fields> {
    const record = await this.get(type, id);
    if (record === undefined) throw new Error(`there is no ${type} ${id}`);
    return record;
  }

  async #reading(): Promise<number> {
    return Number((await this.#store.get("facts", "reading")) ?? 0);
  }

  // The records of another account are none of this copy's, and must not get the edits that wait.
  async #checkAccount(): Promise<void> {
    const asking: string = (await this.#connection.ask("GET", "/api/user/profile"))["user"].id;
    await this.#change(async (to) => {
      const settings = async () => (await this.#store.all("records")).find(({ type }) => type === "settings")?.id;
      const owner = (await this.#store.get("facts", "account")) ?? (await settings()) ?? asking; // none in stores of old
      if (owner !== asking) throw new Error("This copy is of another account: take a store of its own for each.");
      to.push({ table: "facts", key: "account", row: asking });
    });
    this.#isChecked = true;
  }

  async #beginAnew(): Promise<void> {
    const reading = (await this.#reading()) + 1;
    await this.#change(async (to) => {
      to.push({ table: "facts", key: "cursor" }, { table: "facts", key: "reading", row: reading });
      to.push({ table: "facts", key: "beginsAnew", row: 1 });
    });
  }

  async #takeOver(page: Record<string, any>): Promise<void> {
    const reading = await this.#reading();
    const isLast = !page["hasMore"] && (await this.#store.get("facts", "beginsAnew")) !== undefined;
    await this.#change(async (to) => {
      const met = new Set<string>();
      for (const { type, id, etag, deleted, record } of page["changes"]) {
        met.add(`${type}/${id}`);
        if (deleted) await this.#forget(to, type, id);
        else to.push({ table: "records", key: `${type}/${id}`, row: { type, id, etag, record, reading } });
      }
      for (const row of isLast ? await this.#store.all("records") : []) {
        if (row.reading < reading && !met.has(`${row.type}/${row.id}`)) await this.#forget(to, row.type, row.id);
      }
      if (isLast) to.push({ table: "facts", key: "beginsAnew" });
      to.push({ table: "facts", key: "cursor", row: page["cursor"] });
    });
    this.#report.pulled += page["changes"].length;
  }

  // The record is deleted elsewhere: what was done to it here becomes a conflict. Not what follows an edit that brings it
  // back: its user knows.
  async #forget(to: Change[], type: string, id: string): Promise<void> {
    const known = await this.#store.get("records", `${type}/${id}`);
    const every = await this.#edits(type, id);
    const back = every.findIndex((edit) => edit.action === "restore");
    const edits = back < 0 ? every : every.slice(0, back);
    // What was never made, nobody else can have deleted.
    if (edits.some((edit) => edit.action === "create" && edit.state !== "sending")) return;
    await this.#remove(to, type, id);
    let was = known?.record ?? {};
    for (const edit of edits) {
      to.push({ table: "edits", key: keyOf(edit.number) });
      if (edit.action === "create") was = { ...edit.body, ...was };
      if (edit.action !== "update") continue;
      this.#conflict(to, edit, { field: null, base: { ...was, ...edit.base }, mine: edit.body, theirs: null });
    }
  }

  // Without its record a conflict about a field could not be resolved: it becomes one about the record.
  async #remove(to: Change[], type: string, id: string): Promise<void> {
    const known = await this.#store.get("records", `${type}/${id}`);
    to.push({ table: "records", key: `${type}/${id}` });
    for (const conflict of known ? await this.conflicts() : []) {
      if (conflict.type !== type || conflict.id !== id || conflict.field === null) continue;
      const mine = { [conflict.field]: conflict.mine };
      const row = { ...conflict, field: null, base: known!.record, mine, theirs: null };
      to.push({ table: "conflicts", key: conflict.key, row });
    }
  }

  #conflict(to: Change[], edit: Edit, told: Pick<Conflict, "field" | "base" | "mine" | "theirs">): void {
    const row = { key: newId(), type: edit.type, id: edit.id, action: edit.action, ...told };
    to.push({ table: "conflicts", key: row.key, row });
    this.#report.conflicts++;
  }

  // Whether the record was never made or brought back, since the service refused it.
  async #isHeldUp(edit: Edit): Promise<boolean> {
    const earlier = (await this.#edits(edit.type, edit.id)).filter((each) => each.number < edit.number);
    return earlier.some(({ action, state }) => (action === "create" || action === "restore") && state === "refused");
  }

  // Whether there was something to send.
  async #send(edit: Edit): Promise<boolean> {
    const now = await this.#begin(edit);
    if (now === undefined) return false;
    const senders = { create: this.#sendCreate, update: this.#sendUpdate, delete: this.#sendDelete, restore: this.#sendRestore };
    await senders[now.action].call(this, now);
    return true;
  }

  // The edit as it is now, marked as sent: its user may have added to it since it was read, and does so no more.
  async #begin(edit: Edit): Promise<Edit | undefined> {
    let now: Edit | undefined;
    await this.#change(async (to) => {
      now = await this.#store.get("edits", keyOf(edit.number));
      if (now) to.push(put((now = { ...now, state: "sending" })));
    });
    return now;
  }

  async #sendCreate(edit: Edit): Promise<void> {
    const key = { "Idempotency-Key": edit.idempotencyKey };
    let answer = await this.#connection.request("POST", listPath(edit.type, edit.body), edit.body, key);
    const isEarlier = answer.headers.get("Idempotent-Replayed") === "true" || (await codeOf(answer)) === "id_taken";
    if (isEarlier) {
      // It came through; what has become of it since, the record itself says.
      const now = await this.#connection.request("GET", `${listPath(edit.type, edit.body)}/${edit.id}`);
      if (answer.ok && (await saysGone(now))) return this.#change((to) => this.#forget(to, edit.type, edit.id));
      if (now.ok) answer = now;
    }
    await this.#finish(edit, answer, edit.body, undefined, true, isEarlier);
  }

  async #sendUpdate(given: Edit): Promise<void> {
    for (let edit = given; ; ) {
      const known = await this.#store.get("records", `${edit.type}/${edit.id}`);
      if (known === undefined) return this.#change((to) => this.#forget(to, edit.type, edit.id));
      edit = await this.#merged(edit, known);
      if (Object.keys(edit.body).length === 0) return;
      const path = `${listPath(edit.type, known.record)}/${edit.id}`;
      // The PUT of a date replaces all of it.
      const body = edit.type === "importantDate" ? { ...known.record, ...edit.body } : edit.body;
      const answer = await this.#connection.request("PUT", path, body, { "If-Match": known.etag });
      if (await this.#isStale(edit, answer)) continue;
      await this.#finish(edit, answer, edit.body, known.etag);
      return;
    }
  }

  // The edit as it may be written over what is known now; what may not becomes conflicts.
  async #merged(edit: Edit, known: RecordRow): Promise<Edit> {
    const { body, clashes } = merge(edit.base, edit.body, known.record);
    const changed: Edit = { ...edit, base: seen(known.record, body), body };
    await this.#change(async (to) => {
      to.push(Object.keys(body).length ? put(changed) : { table: "edits", key: keyOf(edit.number) });
      for (const clash of clashes) this.#conflict(to, edit, clash);
    });
    return changed;
  }

  async #sendDelete(edit: Edit): Promise<void> {
    const headers = edit.etag ? { "If-Match": edit.etag } : undefined;
    const known = await this.#store.get("records", `${edit.type}/${edit.id}`); // a merge of people moves their dates
    const path = `${listPath(edit.type, known?.record ?? edit.base)}/${edit.id}`;
    const answer = await this.#connection.request("DELETE", path, undefined, headers);
    const isGone = await saysGone(answer);
    const current = await currentOf(answer);
    await this.#change(async (to) => {
      if (current !== undefined) {
        const row = await this.#kept(edit, answer, current);
        to.push({ table: "records", key: `${edit.type}/${edit.id}`, row }, { table: "edits", key: keyOf(edit.number) });
        this.#conflict(to, edit, { field: null, base: edit.base, mine: null, theirs: row.record });
      } else if (answer.ok || isGone) {
        to.push({ table: "edits", key: keyOf(edit.number) });
        await this.#remove(to, edit.type, edit.id);
      } else {
        await this.#refuse(to, edit, answer);
      }
    });
  }

  // Bring back what was deleted elsewhere, with the user's fields; as a new record where it was removed for good.
  async #sendRestore(edit: Edit): Promise<void> {
    const path = `${listPath(edit.type, { ...edit.base, ...edit.body })}/${edit.id}`;
    const key = { "Idempotency-Key": edit.idempotencyKey };
    let answer = await this.#connection.request("POST", `${path}/restore`, undefined, key);
    if ((await codeOf(answer)) === "not_deleted") answer = await this.#connection.request("GET", path);
    if (Object.keys(edit.base).length && (await saysGone(answer))) {
      const id = newId();
      const body = { ...edit.base, ...edit.body, id };
      const anew: Edit = { ...edit, id, body, base: {}, action: "create", idempotencyKey: newId(), state: "waiting" };
      await this.#change(async (to) => {
        const later = (await this.#edits(edit.type, edit.id)).filter((each) => each.number > edit.number);
        to.push(put(anew), ...later.map((each) => put({ ...each, id })));
        const told = (await this.conflicts()).filter((each) => each.type === edit.type && each.id === edit.id);
        for (const each of told) to.push({ table: "conflicts", key: each.key, row: { ...each, id } });
      });
      await this.#send(anew);
    } else if ((await this.#finish(edit, answer, {})) && Object.keys(edit.body).length) {
      await this.#send(edit);
    }
  }

  // Whether the record has changed or gone meanwhile; then the store knows what it is now.
  async #isStale(edit: Edit, answer: Response): Promise<boolean> {
    const current = await currentOf(answer);
    if (current === undefined && !(await saysGone(answer))) return false;
    await this.#change(async (to) => {
      if (current === undefined) return this.#forget(to, edit.type, edit.id);
      const row = await this.#kept(edit, answer, current);
      to.push({ table: "records", key: `${edit.type}/${edit.id}`, row });
    });
    return true;
  }

  async #kept(edit: Edit, answer: Response, record: Fields): Promise<RecordRow> {
    const { type, id } = edit;
    return { type, id, etag: answer.headers.get("ETag") ?? "", record: asInFeed(type, record), reading: await this.#reading() };
  }

  // Take over what the service made of an edit, also as the base of what was done to the record since. What was restored
  // is updated next, in the same row. `isWhole`: all of the record came of this edit. `isEarlier`: it was carried out
  // some time ago, and others may have changed the record since. Their changes are nothing that the user has seen: of
  // the base only the entries get their ids.
  async #finish(
    edit: Edit,
    answer: Response,
    sent: Fields,
    before?: string,
    isWhole = false,
    isEarlier = false,
  ): Promise<boolean> {
    const body = answer.ok ? await answer.json() : {};
    await this.#change(async (to) => {
      if (!answer.ok) return this.#refuse(to, edit, answer);
      const row = await this.#kept(edit, answer, body[edit.type]);
      const isHalf = edit.action === "restore" && Object.keys(edit.body).length > 0;
      // Not what is there now: others may have changed it before it was deleted.
      const update: Edit = { ...edit, action: "update", base: seen(edit.base, edit.body), state: "waiting" };
      to.push({ table: "records", key: `${edit.type}/${edit.id}`, row });
      to.push(isHalf ? put(update) : { table: "edits", key: keyOf(edit.number) });
      for (const later of await this.#edits(edit.type, edit.id)) {
        if (later.number === edit.number) continue;
        const ours = Object.keys(later.base).filter((f) => (f in sent ? isSame(later.base[f], sent[f]) : isWhole));
        const made = ours.map((f) => [f, isEarlier ? withIds(later.base[f], row.record[f]) : (row.record[f] ?? null)]);
        const base = { ...later.base, ...Object.fromEntries(made) };
        to.push(put({ ...later, base, etag: later.etag === (before ?? null) ? row.etag : later.etag }));
      }
    });
    return answer.ok;
  }

  // A refusal that will not change is kept with the edit; what may, such as 401, ends the sync.
  async #refuse(to: Change[], edit: Edit, answer: Response): Promise<void> {
    const problem = await bodyOf(answer);
    const isOfAProxy = answer.status === 404 && !("error" in problem);
    const isForLater = isOfAProxy || [401, 408, 429].includes(answer.status) || answer.status >= 500;
    if (isForLater || ["in_progress", "read_only_token"].includes(problem["code"])) throw new RefusedError(answer.status, problem);
    to.push(put({ ...edit, state: "refused", problem }));
    this.#report.refused++;
  }
}

function withIds(before: unknown, now: unknown): unknown {
  return Array.isArray(before) && Array.isArray(now) ? identified(before, now) : before;
}

function listPath(type: string, record: Fields): string {
  return KINDS[type]!.path.replace(/\{(\w+)\}/g, (_, field: string) => String(record[field]));
}

function asInFeed(type: string, record: Fields): Fields {
  const kept = Object.fromEntries(Object.entries(record).filter(([name]) => !KINDS[type]?.ofOthers?.includes(name)));
  const values = kept["customFieldValues"] as Fields[] | undefined;
  const short = values?.map(({ id, templateId, value }) => ({ id, templateId, value }));
  return short === undefined ? kept : { ...kept, customFieldValues: short };
}

function shown(record: Fields | undefined, edits: Edit[]): Fields | undefined {
  for (const { action, body, base, id, state } of edits) {
    if (action === "delete") record = state === "refused" ? record : undefined;
    else if (action === "create") record = { id, ...body };
    else if (action === "restore") record ??= { ...base, ...body, id };
    else if (record !== undefined) record = { ...record, ...body };
  }
  return record;
}

function seen(record: Fields, changes: Fields): Fields {
  return Object.fromEntries(Object.keys(changes).map((field) => [field, record[field] ?? null]));
}

function put(edit: Edit): Change {
  return { table: "edits", key: keyOf(edit.number), row: edit };
}

// Numbers as texts that sort alike.
function keyOf(number: number): string {
  return String(number).padStart(16, "0");
}

async function codeOf(answer: Response): Promise<unknown> {
  return answer.ok ? undefined : (await bodyOf(answer.clone()))["code"];
}

// What a record is by now that has changed. A 412 without it is a proxy's, and a refusal.
async function currentOf(answer: Response): Promise<Fields | undefined> {
  return answer.status === 412 ? (await bodyOf(answer.clone()))["current"] : undefined;
}

// Whether the service says that there is no such record: of a proxy whose service is away a 404 says nothing of it.
async function saysGone(answer: Response): Promise<boolean> {
  return answer.status === 404 && "error" in (await bodyOf(answer.clone()));
}
