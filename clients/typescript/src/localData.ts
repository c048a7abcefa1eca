// What the copy, the reader of the feed and the sender of edits share: the store, its locks, and who watches it.
import { newId } from "./ids.ts";
import { isEditable, PROPOSAL, refsOf, toNewRecord } from "./kinds.ts";
import type { Action, Change, Conflict, Edit, Fields, LockName, RecordRow, Store, WriteOptions } from "./store.ts";

// The counts of a sync: changes applied from the feed, edits sent, conflicts and refusals that occurred.
export interface SyncReport {
  pulled: number;
  pushed: number;
  conflicts: number;
  refused: number;
}

// What has changed: the keys of the records (`person/<id>`), also if it is an edit or a conflict of one. `by`: the user of
// this program, a sync in this program, or another program on the store. `stored`: the records that this program has
// stored just now, without unsent edits; undefined for one that it has removed.
export interface Changed {
  keys: ReadonlySet<string>;
  by: "user" | "sync" | "other";
  stored: ReadonlyMap<string, Fields | undefined>;
}

export type Listener = (changed: Changed) => void;

export class LocalData {
  readonly store: Store;
  report: SyncReport = { pulled: 0, pushed: 0, conflicts: 0, refused: 0 };
  readonly #lastByLock = new Map<LockName, Promise<unknown>>();
  readonly #listeners = new Set<Listener>();

  constructor(store: Store) {
    this.store = store;
    store.listen?.((keys) => this.#tell({ keys: new Set(keys), by: "other", stored: new Map() }));
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(changed: Changed): void {
    for (const listener of [...this.#listeners]) listener(changed);
  }

  // Runs changes one after the other, each as a single write of the store.
  change(by: "user" | "sync", work: (writes: Change[]) => Promise<void>, options?: WriteOptions): Promise<void> {
    return this.withLock("change", async () => {
      const writes: Change[] = [];
      await work(writes);
      await this.store.write(writes, options);
      const keys = new Set(writes.flatMap(({ about }) => about ?? []));
      if (keys.size === 0) return;
      this.store.notify?.([...keys]);
      const stored = new Map(writes.flatMap((each) => (each.table === "records" ? [[each.key, each.row?.record] as const] : [])));
      this.#tell({ keys, by, stored });
    });
  }

  // Runs `work` after all earlier work with this lock, of this copy and of other programs on the store.
  withLock<T>(name: LockName, work: () => Promise<T>): Promise<T> {
    const before = this.#lastByLock.get(name) ?? Promise.resolve();
    const done = before.then(() => this.store.withLock?.(name, work) ?? work());
    this.#lastByLock.set(
      name,
      done.catch(() => undefined),
    );
    return done;
  }

  record(type: string, id: string): Promise<RecordRow | undefined> {
    return this.store.get("records", `${type}/${id}`);
  }

  async edits(type?: string, id?: string): Promise<Edit[]> {
    const every = await this.store.all("edits");
    return every.filter((edit) => (type ?? edit.type) === edit.type && (id ?? edit.id) === edit.id);
  }

  // A record with its unsent edits.
  async current(type: string, id: string): Promise<Fields | undefined> {
    return applyEdits((await this.record(type, id))?.record, await this.edits(type, id));
  }

  async addEdit(writes: Change[], type: string, id: string, action: Action, given: Partial<Edit>): Promise<void> {
    if (!isEditable(type) && type !== PROPOSAL) throw new Error(`a copy does not edit records of type ${type}`);
    const number = Number((await this.store.get("facts", "lastNumber")) ?? 0) + 1;
    const empty = { base: {}, body: {}, etag: null, problem: null, state: "waiting" as const };
    writes.push({ table: "facts", key: "lastNumber", row: number });
    writes.push(putEdit({ ...empty, number, idempotencyKey: newId(), type, id, action, ...given }));
  }

  addConflict(writes: Change[], edit: Edit, values: Pick<Conflict, "field" | "base" | "mine" | "theirs">): void {
    writes.push(putConflict({ key: newId(), type: edit.type, id: edit.id, action: edit.action, ...values }));
    this.report.conflicts++;
  }

  // Removes a record that was deleted elsewhere; updates that were made here become conflicts. Except those after an edit
  // that restores it: their user knew of the deletion.
  async applyDeletion(writes: Change[], type: string, id: string): Promise<void> {
    const known = await this.record(type, id);
    const every = await this.edits(type, id);
    const restoredAt = every.findIndex((edit) => edit.action === "restore");
    const edits = restoredAt < 0 ? every : every.slice(0, restoredAt);
    // It was not created yet, so it cannot have been deleted.
    if (edits.some((edit) => edit.action === "create" && edit.state !== "sending")) return;
    await this.removeRecord(writes, type, id);
    let record = known?.record ?? {};
    for (const edit of edits) {
      // Whether the meeting was answered elsewhere, or is not there any more, the service says.
      if (edit.action === "accept") continue;
      writes.push(dropEdit(edit));
      if (edit.action === "create") record = { ...edit.body, ...record };
      if (edit.action !== "update") continue;
      this.addConflict(writes, edit, { field: null, base: { ...record, ...edit.base }, mine: edit.body, theirs: null });
    }
  }

  // Removes a record. A conflict about a field, which nobody could resolve now, becomes one about the record.
  async removeRecord(writes: Change[], type: string, id: string): Promise<void> {
    const known = await this.record(type, id);
    writes.push({ table: "records", key: `${type}/${id}`, about: `${type}/${id}` });
    for (const conflict of known ? await this.store.all("conflicts") : []) {
      if (conflict.type !== type || conflict.id !== id || conflict.field === null) continue;
      const mine = { [conflict.field]: conflict.mine };
      writes.push(putConflict({ ...conflict, field: null, base: known!.record, mine, theirs: null }));
    }
  }

  async reading(): Promise<number> {
    return Number((await this.store.get("facts", "reading")) ?? 0);
  }
}

// The record as the user sees it, with the edits; undefined if there is none or it was deleted here.
export function applyEdits(record: Fields | undefined, edits: Edit[]): Fields | undefined {
  for (const { action, body, base, id, state, type } of edits) {
    if (action === "delete" || action === "accept" || action === "dismiss") record = state === "refused" ? record : undefined;
    else if (action === "create") record = toNewRecord(type, id, body);
    else if (action === "restore") record ??= { ...base, ...body, id };
    else if (record !== undefined) record = { ...record, ...body };
  }
  return record;
}

// The values of the changed fields; null for one that is missing.
export function pickFields(record: Fields, changes: Fields): Fields {
  return Object.fromEntries(Object.keys(changes).map((field) => [field, record[field] ?? null]));
}

export function putRecord(row: RecordRow): Change {
  const key = `${row.type}/${row.id}`;
  return { table: "records", key, row: { ...row, refs: refsOf(row.type, row.record) }, about: key };
}

export function putEdit(edit: Edit): Change {
  return { table: "edits", key: editKey(edit.number), row: edit, about: `${edit.type}/${edit.id}` };
}

export function dropEdit(edit: Edit): Change {
  return { table: "edits", key: editKey(edit.number), about: `${edit.type}/${edit.id}` };
}

export function putConflict(row: Conflict): Change {
  return { table: "conflicts", key: row.key, row, about: `${row.type}/${row.id}` };
}

// The key of an edit. Padded, so that keys sort like numbers.
export function editKey(number: number): string {
  return String(number).padStart(16, "0");
}
