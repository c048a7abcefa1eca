// A copy of the account that can be read and edited offline, and synced when online (docs/clients.md).
import { bodyOf, type Connection, RefusedError, requireSuccess } from "./connection.ts";
import { newId } from "./ids.ts";
import { isSame, merge, withKnownIds } from "./merge.ts";
import type { Action, Change, Conflict, Edit, Fields, LockName, RecordRow, Store } from "./store.ts";

const PAGE_SIZE = 500;

// The types of records that a copy can edit: the path of the list, which may contain fields of the record, and the fields of
// a response which repeat data of other records. The change feed omits those.
const KINDS: Record<string, { path: string; notInFeed?: string[] }> = {
  customFieldTemplate: { path: "/api/custom-field-templates" },
  group: { path: "/api/groups", notInFeed: ["people"] },
  importantDate: { path: "/api/people/{personId}/important-dates" },
  interaction: { path: "/api/interactions" },
  person: { path: "/api/people", notInFeed: ["groups", "relationshipToUser", "relationships", "importantDates"] },
  relationship: { path: "/api/relationships" },
  relationshipType: { path: "/api/relationship-types" },
};

// The counts of a sync: changes applied from the feed, edits sent, conflicts and refusals that occurred.
export interface SyncReport {
  pulled: number;
  pushed: number;
  conflicts: number;
  refused: number;
}

// Reads and edits use the store; `sync` exchanges changes with the service, and may be interrupted at any point.
export class Copy {
  readonly #store: Store;
  readonly #connection: Connection;
  readonly #lastByLock = new Map<LockName, Promise<unknown>>();
  #isAccountChecked = false; // whether the account of the connection was compared with that of the store
  #report: SyncReport = { pulled: 0, pushed: 0, conflicts: 0, refused: 0 };

  constructor(store: Store, connection: Connection) {
    this.#store = store;
    this.#connection = connection;
  }

  // Reading.

  // Returns a record with its unsent edits.
  async get(type: string, id: string): Promise<Fields | undefined> {
    const known = await this.#store.get("records", `${type}/${id}`);
    return applyEdits(known?.record, await this.#edits(type, id));
  }

  // Returns all records of a type, with their unsent edits.
  async all(type: string): Promise<Fields[]> {
    const found = new Map<unknown, Fields | undefined>();
    for (const row of await this.#store.all("records")) if (row.type === type) found.set(row.id, row.record);
    for (const edit of await this.#edits(type)) found.set(edit.id, applyEdits(found.get(edit.id), [edit]));
    return [...found.values()].filter((record) => record !== undefined);
  }

  // Returns the conflicts, which have to be shown to the user.
  conflicts(): Promise<Conflict[]> {
    return this.#store.all("conflicts");
  }

  // Returns the edits that the service refused; `problem` is its response.
  async refused(): Promise<Edit[]> {
    return (await this.#edits()).filter((edit) => edit.state === "refused");
  }

  // Editing. Nothing is sent before the next sync.

  // Creates a record and returns its id, which is final.
  async create(type: string, body: Fields): Promise<string> {
    const id = String(body["id"] ?? newId());
    await this.#changeStore((writes) => this.#addEdit(writes, type, id, "create", { body: { ...body, id } }));
    return id;
  }

  // Changes fields of a record; a list replaces the whole list. Throws if there is no such record.
  update(type: string, id: string, changes: Fields): Promise<void> {
    return this.#changeStore((writes) => this.#update(writes, type, id, changes));
  }

  // Moves a record to the trash. Throws if there is no such record.
  delete(type: string, id: string): Promise<void> {
    return this.#changeStore((writes) => this.#delete(writes, type, id));
  }

  // Removes a conflict: keep the service's value, or make a new edit with the user's.
  resolve({ key }: Conflict, keep: "mine" | "theirs"): Promise<void> {
    return this.#changeStore(async (writes) => {
      // Read again, because the caller's may be old: its record may have got another id, or it may be resolved already.
      const conflict = await this.#store.get("conflicts", key);
      writes.push({ table: "conflicts", key });
      if (keep === "theirs" || conflict === undefined) return;
      const { type, id, field } = conflict;
      const isThere = (await this.get(type, id)) !== undefined;
      const mine = field === null ? (conflict.mine as Fields) : { [field]: conflict.mine };
      if (conflict.action === "delete") return isThere ? this.#delete(writes, type, id) : undefined;
      if (isThere) return this.#update(writes, type, id, mine);
      const known = await this.#store.get("records", `${type}/${id}`); // there is one if it was also deleted here
      const base = field === null ? (conflict.base as Fields) : (known?.record ?? {});
      await this.#addEdit(writes, type, id, "restore", { base, body: mine });
    });
  }

  // Removes a refused edit; for a creation also the later edits of its record.
  discard(edit: Edit): Promise<void> {
    return this.#changeStore(async (writes) => {
      const removed = edit.action === "create" ? await this.#edits(edit.type, edit.id) : [edit];
      for (const { number } of removed) writes.push({ table: "edits", key: editKey(number) });
    });
  }

  // Changes fields of a refused edit and sends it again with the next sync. Throws for another id.
  async amend(edit: Edit, changes: Fields): Promise<void> {
    if ((changes["id"] ?? edit.id) !== edit.id) throw new Error("an edit keeps its id: discard it and create the record anew");
    const body = { ...edit.body, ...changes };
    const amended = { ...edit, body, idempotencyKey: newId(), state: "waiting" as const, problem: null };
    return this.#changeStore(async (writes) => void writes.push(putEdit(amended)));
  }

  // Syncing.

  // Reads changes from the service, sends the edits, and reads the changes that they caused. Throws RefusedError (401: sign
  // in again), TypeError. Steps that were completed before are kept.
  sync(): Promise<SyncReport> {
    return this.#withLock("sync", async () => {
      this.#report = { pulled: 0, pushed: 0, conflicts: 0, refused: 0 };
      await this.pull();
      if (await this.push()) await this.pull();
      return this.#report;
    });
  }

  // Reads the change feed to its end. Each page and its cursor are stored in one write.
  async pull(): Promise<void> {
    for (let more = true; more; ) {
      const cursor = await this.#store.get("facts", "cursor");
      if (cursor === undefined) await this.#checkAccount(); // without a cursor the service cannot refuse another account
      const query = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const response = await this.#connection.request("GET", `/api/changes?limit=${PAGE_SIZE}${query}`);
      if (response.status === 410 && cursor !== undefined) {
        // The cursor has expired: read all records again.
        await this.#checkAccount();
        await this.#restartReading();
        continue;
      }
      const page = await requireSuccess(response);
      this.#isAccountChecked = true;
      await this.#applyPage(page);
      more = page["hasMore"];
    }
  }

  // Sends the edits in order, and returns how many were sent.
  async push(): Promise<number> {
    let sent = 0;
    if (!this.#isAccountChecked && (await this.#edits()).length) await this.#checkAccount();
    for (let number = 0; ; ) {
      const edit = (await this.#edits()).find((each) => each.number > number);
      if (edit === undefined) break;
      number = edit.number;
      if (edit.state === "refused" || (await this.#isBlocked(edit))) continue;
      if (await this.#send(edit)) sent++;
    }
    this.#report.pushed += sent;
    return sent;
  }

  // Runs changes one after the other, each as a single write of the store.
  #changeStore(work: (writes: Change[]) => Promise<void>): Promise<void> {
    return this.#withLock("change", async () => {
      const writes: Change[] = [];
      await work(writes);
      await this.#store.write(writes);
    });
  }

  // Runs `work` after all earlier work with this lock, of this copy and of other programs on the store.
  #withLock<T>(name: LockName, work: () => Promise<T>): Promise<T> {
    const before = this.#lastByLock.get(name) ?? Promise.resolve();
    const done = before.then(() => this.#store.withLock?.(name, work) ?? work());
    this.#lastByLock.set(
      name,
      done.catch(() => undefined),
    );
    return done;
  }

  async #edits(type?: string, id?: string): Promise<Edit[]> {
    const every = await this.#store.all("edits");
    return every.filter((edit) => (type ?? edit.type) === edit.type && (id ?? edit.id) === edit.id);
  }

  async #addEdit(writes: Change[], type: string, id: string, action: Action, given: Partial<Edit>): Promise<void> {
    if (!KINDS[type]) throw new Error(`a copy does not edit records of type ${type}`);
    const number = Number((await this.#store.get("facts", "lastNumber")) ?? 0) + 1;
    const idempotencyKey = crypto.randomUUID();
    const empty = { base: {}, body: {}, etag: null, problem: null, state: "waiting" as const };
    writes.push({ table: "facts", key: "lastNumber", row: number });
    writes.push(putEdit({ ...empty, number, idempotencyKey, type, id, action, ...given }));
  }

  async #update(writes: Change[], type: string, id: string, changes: Fields): Promise<void> {
    const record = await this.#existing(type, id);
    // Changes in a row become one request. Only the last edit may grow: others may depend on the order.
    const last = (await this.#edits()).at(-1);
    const isSameRecord = last?.type === type && last.id === id && last.state === "waiting";
    if (isSameRecord && (last.action === "create" || last.action === "update")) {
      const base = { ...pickFields(record, changes), ...last.base };
      writes.push(putEdit({ ...last, base, body: { ...last.body, ...changes } }));
    } else {
      await this.#addEdit(writes, type, id, "update", { base: pickFields(record, changes), body: changes });
    }
  }

  async #delete(writes: Change[], type: string, id: string): Promise<void> {
    const known = await this.#store.get("records", `${type}/${id}`);
    await this.#addEdit(writes, type, id, "delete", { base: await this.#existing(type, id), etag: known?.etag ?? null });
  }

  async #existing(type: string, id: string): Promise<Fields> {
    const record = await this.get(type, id);
    if (record === undefined) throw new Error(`there is no ${type} ${id}`);
    return record;
  }

  async #reading(): Promise<number> {
    return Number((await this.#store.get("facts", "reading")) ?? 0);
  }

  // Throws if the connection is of another account: it must not get this copy's edits.
  async #checkAccount(): Promise<void> {
    const accountId: string = (await this.#connection.ask("GET", "/api/user/profile"))["user"].id;
    await this.#changeStore(async (writes) => {
      const settings = async () => (await this.#store.all("records")).find(({ type }) => type === "settings")?.id;
      // Stores of older versions lack the fact, but have the record of the account's settings.
      const owner = (await this.#store.get("facts", "account")) ?? (await settings()) ?? accountId;
      if (owner !== accountId) throw new Error("This copy is of another account: take a store of its own for each.");
      writes.push({ table: "facts", key: "account", row: accountId });
    });
    this.#isAccountChecked = true;
  }

  async #restartReading(): Promise<void> {
    const reading = (await this.#reading()) + 1;
    await this.#changeStore(async (writes) => {
      writes.push({ table: "facts", key: "cursor" }, { table: "facts", key: "reading", row: reading });
      writes.push({ table: "facts", key: "beginsAnew", row: 1 });
    });
  }

  async #applyPage(page: Record<string, any>): Promise<void> {
    const reading = await this.#reading();
    const isLast = !page["hasMore"] && (await this.#store.get("facts", "beginsAnew")) !== undefined;
    await this.#changeStore(async (writes) => {
      const changed = new Set<string>();
      for (const { type, id, etag, deleted, record } of page["changes"]) {
        changed.add(`${type}/${id}`);
        if (deleted) await this.#applyDeletion(writes, type, id);
        else writes.push({ table: "records", key: `${type}/${id}`, row: { type, id, etag, record, reading } });
      }
      for (const row of isLast ? await this.#store.all("records") : []) {
        if (row.reading < reading && !changed.has(`${row.type}/${row.id}`)) await this.#applyDeletion(writes, row.type, row.id);
      }
      if (isLast) writes.push({ table: "facts", key: "beginsAnew" });
      writes.push({ table: "facts", key: "cursor", row: page["cursor"] });
    });
    this.#report.pulled += page["changes"].length;
  }

  // Removes a record that was deleted elsewhere; updates that were made here become conflicts. Except those after an edit
  // that restores it: their user knew of the deletion.
  async #applyDeletion(writes: Change[], type: string, id: string): Promise<void> {
    const known = await this.#store.get("records", `${type}/${id}`);
    const every = await this.#edits(type, id);
    const restoredAt = every.findIndex((edit) => edit.action === "restore");
    const edits = restoredAt < 0 ? every : every.slice(0, restoredAt);
    // It was not created yet, so it cannot have been deleted.
    if (edits.some((edit) => edit.action === "create" && edit.state !== "sending")) return;
    await this.#removeRecord(writes, type, id);
    let record = known?.record ?? {};
    for (const edit of edits) {
      writes.push({ table: "edits", key: editKey(edit.number) });
      if (edit.action === "create") record = { ...edit.body, ...record };
      if (edit.action !== "update") continue;
      this.#addConflict(writes, edit, { field: null, base: { ...record, ...edit.base }, mine: edit.body, theirs: null });
    }
  }

  // Removes a record. A conflict about a field, which nobody could resolve now, becomes one about the record.
  async #removeRecord(writes: Change[], type: string, id: string): Promise<void> {
    const known = await this.#store.get("records", `${type}/${id}`);
    writes.push({ table: "records", key: `${type}/${id}` });
    for (const conflict of known ? await this.conflicts() : []) {
      if (conflict.type !== type || conflict.id !== id || conflict.field === null) continue;
      const mine = { [conflict.field]: conflict.mine };
      const row = { ...conflict, field: null, base: known!.record, mine, theirs: null };
      writes.push({ table: "conflicts", key: conflict.key, row });
    }
  }

  #addConflict(writes: Change[], edit: Edit, values: Pick<Conflict, "field" | "base" | "mine" | "theirs">): void {
    const row = { key: newId(), type: edit.type, id: edit.id, action: edit.action, ...values };
    writes.push({ table: "conflicts", key: row.key, row });
    this.#report.conflicts++;
  }

  // Whether an earlier edit that creates or restores the record was refused.
  async #isBlocked(edit: Edit): Promise<boolean> {
    const earlier = (await this.#edits(edit.type, edit.id)).filter((each) => each.number < edit.number);
    return earlier.some(({ action, state }) => (action === "create" || action === "restore") && state === "refused");
  }

  // Sends an edit. Returns whether it still existed.
  async #send(edit: Edit): Promise<boolean> {
    const now = await this.#markAsSending(edit);
    if (now === undefined) return false;
    const senders = { create: this.#sendCreate, update: this.#sendUpdate, delete: this.#sendDelete, restore: this.#sendRestore };
    await senders[now.action].call(this, now);
    return true;
  }

  // Reads the edit again and marks it as sent in one write: until then the user may extend it.
  async #markAsSending(edit: Edit): Promise<Edit | undefined> {
    let now: Edit | undefined;
    await this.#changeStore(async (writes) => {
      now = await this.#store.get("edits", editKey(edit.number));
      if (now) writes.push(putEdit((now = { ...now, state: "sending" })));
    });
    return now;
  }

  async #sendCreate(edit: Edit): Promise<void> {
    const key = { "Idempotency-Key": edit.idempotencyKey };
    let response = await this.#connection.request("POST", listPath(edit.type, edit.body), edit.body, key);
    const isEarlier = response.headers.get("Idempotent-Replayed") === "true" || (await errorCode(response)) === "id_taken";
    if (isEarlier) {
      // It was created by an earlier attempt. The response shows it as it was then, so ask for the current record.
      const now = await this.#connection.request("GET", `${listPath(edit.type, edit.body)}/${edit.id}`);
      if (response.ok && (await isMissing(now))) {
        return this.#changeStore((writes) => this.#applyDeletion(writes, edit.type, edit.id));
      }
      if (now.ok) response = now;
    }
    await this.#complete(edit, response, edit.body, undefined, true, isEarlier);
  }

  async #sendUpdate(given: Edit): Promise<void> {
    for (let edit = given; ; ) {
      const known = await this.#store.get("records", `${edit.type}/${edit.id}`);
      if (known === undefined) return this.#changeStore((writes) => this.#applyDeletion(writes, edit.type, edit.id));
      edit = await this.#rebase(edit, known);
      if (Object.keys(edit.body).length === 0) return;
      const path = `${listPath(edit.type, known.record)}/${edit.id}`;
      // The PUT of a date replaces the whole record; others change the fields that they contain.
      const body = edit.type === "importantDate" ? { ...known.record, ...edit.body } : edit.body;
      const response = await this.#connection.request("PUT", path, body, { "If-Match": known.etag });
      if (await this.#refreshIfStale(edit, response)) continue;
      await this.#complete(edit, response, edit.body, known.etag);
      return;
    }
  }

  // Merges the edit with the current record. Fields that both sides changed become conflicts.
  async #rebase(edit: Edit, known: RecordRow): Promise<Edit> {
    const { body, clashes } = merge(edit.base, edit.body, known.record);
    const changed: Edit = { ...edit, base: pickFields(known.record, body), body };
    await this.#changeStore(async (writes) => {
      writes.push(Object.keys(body).length ? putEdit(changed) : { table: "edits", key: editKey(edit.number) });
      for (const clash of clashes) this.#addConflict(writes, edit, clash);
    });
    return changed;
  }

  async #sendDelete(edit: Edit): Promise<void> {
    const headers = edit.etag ? { "If-Match": edit.etag } : undefined;
    // From the record: a merge of people changes the path of their dates.
    const known = await this.#store.get("records", `${edit.type}/${edit.id}`);
    const path = `${listPath(edit.type, known?.record ?? edit.base)}/${edit.id}`;
    const response = await this.#connection.request("DELETE", path, undefined, headers);
    const isGone = await isMissing(response);
    const current = await currentRecord(response);
    await this.#changeStore(async (writes) => {
      if (current !== undefined) {
        const row = await this.#buildRow(edit, response, current);
        writes.push({ table: "records", key: `${edit.type}/${edit.id}`, row }, { table: "edits", key: editKey(edit.number) });
        this.#addConflict(writes, edit, { field: null, base: edit.base, mine: null, theirs: row.record });
      } else if (response.ok || isGone) {
        writes.push({ table: "edits", key: editKey(edit.number) });
        await this.#removeRecord(writes, edit.type, edit.id);
      } else {
        await this.#refuse(writes, edit, response);
      }
    });
  }

  // Restores a record that was deleted elsewhere, then updates it. If it was purged, creates a new one.
  async #sendRestore(edit: Edit): Promise<void> {
    const path = `${listPath(edit.type, { ...edit.base, ...edit.body })}/${edit.id}`;
    const key = { "Idempotency-Key": edit.idempotencyKey };
    let response = await this.#connection.request("POST", `${path}/restore`, undefined, key);
    if ((await errorCode(response)) === "not_deleted") response = await this.#connection.request("GET", path);
    if (Object.keys(edit.base).length && (await isMissing(response))) {
      const id = newId();
      const body = { ...edit.base, ...edit.body, id };
      const creation: Edit = { ...edit, id, body, base: {}, action: "create", idempotencyKey: newId(), state: "waiting" };
      await this.#changeStore(async (writes) => {
        const later = (await this.#edits(edit.type, edit.id)).filter((each) => each.number > edit.number);
        writes.push(putEdit(creation), ...later.map((each) => putEdit({ ...each, id })));
        const conflicts = (await this.conflicts()).filter((each) => each.type === edit.type && each.id === edit.id);
        for (const each of conflicts) writes.push({ table: "conflicts", key: each.key, row: { ...each, id } });
      });
      await this.#send(creation);
    } else if ((await this.#complete(edit, response, {})) && Object.keys(edit.body).length) {
      await this.#send(edit);
    }
  }

  // Returns whether the record was changed or deleted elsewhere. In that case the store is updated.
  async #refreshIfStale(edit: Edit, response: Response): Promise<boolean> {
    const current = await currentRecord(response);
    if (current === undefined && !(await isMissing(response))) return false;
    await this.#changeStore(async (writes) => {
      if (current === undefined) return this.#applyDeletion(writes, edit.type, edit.id);
      const row = await this.#buildRow(edit, response, current);
      writes.push({ table: "records", key: `${edit.type}/${edit.id}`, row });
    });
    return true;
  }

  async #buildRow(edit: Edit, response: Response, record: Fields): Promise<RecordRow> {
    const { type, id } = edit;
    return { type, id, etag: response.headers.get("ETag") ?? "", record: toFeedRecord(type, record), reading: await this.#reading() };
  }

  // Stores the response to an edit, and uses it as the new base of the later edits of the record. Returns false if the edit was
  // refused. An edit that restored a record becomes an update. `isWhole`: the whole record comes from this edit.
  // `isEarlier`: it was executed by an earlier attempt, and others may have changed the record since. The user has not seen
  // their changes, so the base of later edits stays, except that its entries get the ids that the service gave them.
  async #complete(
    edit: Edit,
    response: Response,
    sent: Fields,
    before?: string,
    isWhole = false,
    isEarlier = false,
  ): Promise<boolean> {
    const body = response.ok ? await response.json() : {};
    await this.#changeStore(async (writes) => {
      if (!response.ok) return this.#refuse(writes, edit, response);
      const row = await this.#buildRow(edit, response, body[edit.type]);
      const becomesUpdate = edit.action === "restore" && Object.keys(edit.body).length > 0;
      // The base is what the user saw: others may have changed the record before its deletion.
      const update: Edit = { ...edit, action: "update", base: pickFields(edit.base, edit.body), state: "waiting" };
      writes.push({ table: "records", key: `${edit.type}/${edit.id}`, row });
      writes.push(becomesUpdate ? putEdit(update) : { table: "edits", key: editKey(edit.number) });
      for (const later of await this.#edits(edit.type, edit.id)) {
        if (later.number === edit.number) continue;
        // Fields whose base is what this edit has written: the service may have normalized them or added ids.
        const written = Object.keys(later.base).filter((f) => (f in sent ? isSame(later.base[f], sent[f]) : isWhole));
        const newBase = written.map((f) => [f, isEarlier ? withIds(later.base[f], row.record[f]) : (row.record[f] ?? null)]);
        const base = { ...later.base, ...Object.fromEntries(newBase) };
        writes.push(putEdit({ ...later, base, etag: later.etag === (before ?? null) ? row.etag : later.etag }));
      }
    });
    return response.ok;
  }

  // Stores a permanent refusal with the edit. A temporary one, such as 401, ends the sync: throws RefusedError.
  async #refuse(writes: Change[], edit: Edit, response: Response): Promise<void> {
    const problem = await bodyOf(response);
    const isFromProxy = response.status === 404 && !("error" in problem);
    const isTemporary = isFromProxy || [401, 408, 429].includes(response.status) || response.status >= 500;
    if (isTemporary || ["in_progress", "read_only_token"].includes(problem["code"])) throw new RefusedError(response.status, problem);
    writes.push(putEdit({ ...edit, state: "refused", problem }));
    this.#report.refused++;
  }
}

function withIds(before: unknown, now: unknown): unknown {
  return Array.isArray(before) && Array.isArray(now) ? withKnownIds(before, now) : before;
}

function listPath(type: string, record: Fields): string {
  return KINDS[type]!.path.replace(/\{(\w+)\}/g, (_, field: string) => String(record[field]));
}

// Converts a record of a response to the form that it has in the change feed.
function toFeedRecord(type: string, record: Fields): Fields {
  const kept = Object.fromEntries(Object.entries(record).filter(([name]) => !KINDS[type]?.notInFeed?.includes(name)));
  const values = kept["customFieldValues"] as Fields[] | undefined;
  const shortValues = values?.map(({ id, templateId, value }) => ({ id, templateId, value }));
  return shortValues === undefined ? kept : { ...kept, customFieldValues: shortValues };
}

// The record as the user sees it, with the edits; undefined if there is none or it was deleted here.
function applyEdits(record: Fields | undefined, edits: Edit[]): Fields | undefined {
  for (const { action, body, base, id, state } of edits) {
    if (action === "delete") record = state === "refused" ? record : undefined;
    else if (action === "create") record = { id, ...body };
    else if (action === "restore") record ??= { ...base, ...body, id };
    else if (record !== undefined) record = { ...record, ...body };
  }
  return record;
}

// The values of the changed fields; null for one that is missing.
function pickFields(record: Fields, changes: Fields): Fields {
  return Object.fromEntries(Object.keys(changes).map((field) => [field, record[field] ?? null]));
}

function putEdit(edit: Edit): Change {
  return { table: "edits", key: editKey(edit.number), row: edit };
}

// The key of an edit. Padded, so that keys sort like numbers.
function editKey(number: number): string {
  return String(number).padStart(16, "0");
}

async function errorCode(response: Response): Promise<unknown> {
  return response.ok ? undefined : (await bodyOf(response.clone()))["code"];
}

// The current record in a 412 response. A 412 without it is from a proxy.
async function currentRecord(response: Response): Promise<Fields | undefined> {
  return response.status === 412 ? (await bodyOf(response.clone()))["current"] : undefined;
}

// Whether the service answered 404. A proxy may do so too while the service is down; its body has no `error`.
async function isMissing(response: Response): Promise<boolean> {
  return response.status === 404 && "error" in (await bodyOf(response.clone()));
}
