// A copy of the account that can be read and edited offline, and synced when online (docs/clients.md).
import { addAnswer, interactionOf } from "./answers.ts";
import type { Connection } from "./connection.ts";
import { EditSender } from "./editSender.ts";
import { FeedReader, type ReadOptions } from "./feedReader.ts";
import { newId } from "./ids.ts";
import type { AcceptOptions, DeleteOptions, DismissOptions, EditableType, NewRecords, Records, RecordType } from "./kinds.ts";
import { PROPOSAL, refsOf } from "./kinds.ts";
import { toDataUrl } from "./photos.ts";
import { applyEdits, dropEdit, type Listener, LocalData, pickFields, putEdit, type SyncReport } from "./localData.ts";
import type { AnswerAction, Change, Conflict, Edit, Fields, Store } from "./store.ts";

// Reads and edits use the store; `sync` exchanges changes with the service, and may be interrupted at any point.
export class Copy {
  readonly #data: LocalData;
  readonly #connection: Connection;
  readonly #reader: FeedReader;
  readonly #sender: EditSender;

  constructor(store: Store, connection: Connection) {
    this.#data = new LocalData(store);
    this.#connection = connection;
    this.#reader = new FeedReader(this.#data, connection);
    this.#sender = new EditSender(this.#data, connection, this.#reader);
  }

  // Reading. What hangs on a person that was deleted here is left out as well.

  // Returns a record with its unsent edits.
  async get<T extends RecordType>(type: T, id: string): Promise<Records[T] | undefined> {
    return (await this.many(type, [id])).get(id);
  }

  // Returns the records with these ids, with their unsent edits; those that do not exist are left out. Those in `stored`
  // (by id, from a change of the store) are not read again.
  async many<T extends RecordType>(
    type: T,
    ids: readonly string[],
    stored: ReadonlyMap<string, Fields | undefined> = new Map(),
  ): Promise<Map<string, Records[T]>> {
    const unread = ids.filter((id) => !stored.has(id));
    const [rows, edits] = await Promise.all([
      unread.length ? this.#data.store.many("records", unread.map((id) => `${type}/${id}`)) : [],
      this.#data.edits(),
    ]);
    const read = new Map(unread.map((id, index) => [id, rows[index]?.record]));
    const known = new Map(ids.map((id) => [id, stored.has(id) ? stored.get(id) : read.get(id)]));
    return withEdits(type, known, edits.filter((edit) => known.has(edit.id) || edit.type === "person"));
  }

  // Returns all records of a type, with their unsent edits.
  async all<T extends RecordType>(type: T): Promise<Records[T][]> {
    const [rows, edits] = await Promise.all([
      this.#data.store.all("records", { prefix: `${type}/` }),
      this.#data.edits(),
    ]);
    return [...withEdits(type, new Map(rows.map(({ id, record }) => [id, record])), edits).values()];
  }

  // Returns the dates, interactions or relationships of a person, with their unsent edits. Each relationship has two rows:
  // these are those whose `personId` is the person.
  async of<T extends "importantDate" | "interaction" | "relationship">(type: T, personId: string): Promise<Records[T][]> {
    const ref = `${type} ${personId}`;
    const [rows, edits] = await Promise.all([this.#data.store.all("records", { ref }), this.#data.edits()]);
    // Edits may take a record away from the person or bring one to it, so all edited ones are looked at.
    const known = new Map(rows.map(({ id, record }) => [id, record]));
    for (const edit of edits) {
      if (edit.type !== type || known.has(edit.id)) continue;
      const row = await this.#data.record(type, edit.id);
      if (row) known.set(edit.id, row.record);
    }
    const found = [...withEdits(type, known, edits).values()];
    return found.filter((record) => refsOf(type, record as unknown as Fields).includes(ref));
  }

  // Returns the conflicts, which have to be shown to the user.
  conflicts(): Promise<Conflict[]> {
    return this.#data.store.all("conflicts");
  }

  // Returns the edits that were not sent yet, in order, without those that were refused. Some may be held.
  async pending(): Promise<Edit[]> {
    return (await this.#data.edits()).filter((edit) => edit.state !== "refused");
  }

  // Returns the edits that the service refused; `problem` is its response.
  async refused(): Promise<Edit[]> {
    return (await this.#data.edits()).filter((edit) => edit.state === "refused");
  }

  // Calls back after each change of the store: by this copy, by its sync, or by a copy of another tab. Returns a function
  // that ends it.
  subscribe(listener: Listener): () => void {
    return this.#data.subscribe(listener);
  }

  // Editing. Nothing is sent before the next sync.

  // Creates a record and returns its id, which is final.
  async create<T extends EditableType>(type: T, body: NewRecords[T]): Promise<string> {
    const id = String(body.id ?? newId());
    await this.#change((writes) => this.#data.addEdit(writes, type, id, "create", { body: { ...body, id } }));
    return id;
  }

  // Changes fields of a record; a list replaces the whole list. Throws if there is no such record. `seen` is the record as
  // its user saw it when the change began, such as when a form was opened: what came in since then is kept, and is a
  // conflict where it concerns the same fields.
  update<T extends EditableType>(type: T, id: string, changes: Partial<NewRecords[T]>, seen?: object): Promise<void> {
    return this.#change((writes) => this.#update(writes, type, id, { ...changes }, seen as Fields | undefined));
  }

  // Sets the photo of a person, or removes it (null). Until it is sent, `photo` of the record is a data: URL. JPEG, PNG, GIF
  // or WebP; it should be small, as it is kept with the edits: the service makes a square of 256 pixels of it.
  async setPhoto(personId: string, picture: Blob | null): Promise<void> {
    const photo = picture && (await toDataUrl(picture));
    return this.#change((writes) => this.#update(writes, "person", personId, { photo }));
  }

  // Moves a record to the trash. Throws if there is no such record. The options are for people.
  delete(type: EditableType, id: string, options: DeleteOptions = {}): Promise<void> {
    return this.#change((writes) => this.#delete(writes, type, id, { ...options }));
  }

  // Takes a record out of the trash: a deletion that was not sent is dropped. `known` is the record, which is shown until
  // the next sync; a record below the path of another one, such as a date, needs it.
  restore(type: EditableType, id: string, known: object = {}): Promise<void> {
    return this.#change(async (writes) => {
      const last = (await this.#data.edits(type, id)).at(-1);
      if (last?.action === "delete" && last.state !== "sending") writes.push(dropEdit(last));
      else await this.#data.addEdit(writes, type, id, "restore", { base: { ...known } });
    });
  }

  // Answers to meetings that calendars propose (`meetingProposal`), which are not shown any more. Those that were answered
  // meanwhile are left out.

  // Logs the meetings as interactions. The options are for one alone.
  accept(proposalIds: readonly string[], options: AcceptOptions = {}): Promise<void> {
    return this.#answer("accept", proposalIds, { ...options });
  }

  // Logs none of them. Sent after the time `heldUntil`, as it cannot be taken back then.
  dismiss(proposalIds: readonly string[], options: DismissOptions = {}, heldUntil = 0): Promise<void> {
    return this.#answer("dismiss", proposalIds, { ...options }, heldUntil);
  }

  async #answer(action: AnswerAction, ids: readonly string[], body: Fields, heldUntil = 0): Promise<void> {
    for (const id of ids) await this.#change((writes) => addAnswer(this.#data, writes, id, action, body, heldUntil));
  }

  // Takes an answer back. `open`: it was not sent, and the meeting is proposed again; `deleted`: it was accepted, and its
  // interaction is deleted; `sent`: nothing can be done.
  async takeBack(proposalId: string): Promise<"open" | "deleted" | "sent"> {
    if (await this.#dropAnswer(proposalId)) return "open";
    await this.#data.withLock("sync", async () => undefined); // it is being sent
    if (await this.#dropAnswer(proposalId)) return "open";
    const id = await interactionOf(this.#data, proposalId);
    if (id === null) return "sent";
    await this.#change(async (writes) => {
      if (await this.#data.current("interaction", id)) return this.#delete(writes, "interaction", id);
      await this.#data.addEdit(writes, "interaction", id, "delete", {}); // not read yet
    });
    return "deleted";
  }

  // Whether there was an answer that was certainly not executed.
  async #dropAnswer(proposalId: string): Promise<boolean> {
    let isDropped = false;
    await this.#change(async (writes) => {
      const edit = (await this.#data.edits(PROPOSAL, proposalId)).at(-1);
      isDropped = edit !== undefined && edit.state !== "sending";
      if (isDropped) writes.push(dropEdit(edit!));
    });
    return isDropped;
  }

  // Removes a conflict: keep the service's value, or make a new edit with the user's.
  resolve({ key, ...given }: Conflict, keep: "mine" | "theirs"): Promise<void> {
    return this.#change(async (writes) => {
      // Read again, because the caller's may be old: its record may have got another id, or it may be resolved already.
      const conflict = await this.#data.store.get("conflicts", key);
      writes.push({ table: "conflicts", key, about: `${given.type}/${conflict?.id ?? given.id}` });
      if (keep === "theirs" || conflict === undefined) return;
      const { type, id, field } = conflict;
      const isThere = (await this.#data.current(type, id)) !== undefined;
      const mine = field === null ? (conflict.mine as Fields) : { [field]: conflict.mine };
      if (conflict.action === "delete") return isThere ? this.#delete(writes, type, id) : undefined;
      if (isThere) return this.#update(writes, type, id, mine);
      const known = await this.#data.record(type, id); // there is one if it was also deleted here
      const base = field === null ? (conflict.base as Fields) : (known?.record ?? {});
      await this.#data.addEdit(writes, type, id, "restore", { base, body: mine });
    });
  }

  // Removes an edit that was refused or not sent; for a creation also the later edits of its record, and those that create
  // what hangs on it. Returns false if it is being sent, or was perhaps executed.
  async discard(edit: Edit): Promise<boolean> {
    let isDiscarded = true;
    await this.#change(async (writes) => {
      const edits = await this.#data.edits();
      const now = edits.find(({ number }) => number === edit.number);
      isDiscarded = now?.state !== "sending";
      if (now === undefined || !isDiscarded) return;
      const removed = new Set([now.number]);
      const gone = new Set(now.action === "create" ? [`${now.type}/${now.id}`] : []);
      for (const each of edits.filter(({ number }) => number > now.number)) {
        const hangsOnGone = each.action === "create" && hangsOn(each, now.id);
        if (hangsOnGone) gone.add(`${each.type}/${each.id}`);
        if (gone.has(`${each.type}/${each.id}`)) removed.add(each.number);
      }
      writes.push(...edits.filter(({ number }) => removed.has(number)).map(dropEdit));
    });
    return isDiscarded;
  }

  // Changes fields of a refused edit and sends it again with the next sync. Throws for another id.
  async amend(edit: Edit, changes: Fields): Promise<void> {
    if ((changes["id"] ?? edit.id) !== edit.id) throw new Error("an edit keeps its id: discard it and create the record anew");
    const body = { ...edit.body, ...changes };
    const amended = { ...edit, body, idempotencyKey: newId(), state: "waiting" as const, problem: null };
    return this.#change(async (writes) => void writes.push(putEdit(amended)));
  }

  // Syncing.

  // Reads changes from the service, sends the edits, and reads the changes that they caused. Throws RefusedError (401: sign
  // in again), OtherAccountError, TypeError. Steps that were completed before are kept.
  sync(options: ReadOptions = {}): Promise<SyncReport> {
    return this.#data.withLock("sync", async () => {
      if (this.#connection.isSession) await this.#reader.checkAccount(options.signal);
      this.#data.report = { pulled: 0, pushed: 0, conflicts: 0, refused: 0 };
      await this.pull(options);
      if (await this.push(options.signal)) await this.pull({ signal: options.signal });
      return this.#data.report;
    });
  }

  // Reads the change feed to its end.
  pull(options: ReadOptions = {}): Promise<void> {
    return this.#reader.pull(options);
  }

  // Sends the edits in order, and returns how many were sent.
  push(signal?: AbortSignal): Promise<number> {
    return this.#sender.push(signal);
  }

  #change(work: (writes: Change[]) => Promise<void>): Promise<void> {
    return this.#data.change("user", work);
  }

  async #update(writes: Change[], type: string, id: string, changes: Fields, seen?: Fields): Promise<void> {
    const record = { ...(await this.#existing(type, id)), ...seen };
    // Changes in a row become one request. Only the last edit may grow: others may depend on the order.
    const last = (await this.#data.edits()).at(-1);
    const isSameRecord = last?.type === type && last.id === id && last.state === "waiting";
    // A photo is a request of its own.
    const isSameRequest = isSameRecord && "photo" in last.body === "photo" in changes;
    if (isSameRequest && (last.action === "create" || last.action === "update")) {
      const base = { ...pickFields(record, changes), ...last.base };
      writes.push(putEdit({ ...last, base, body: { ...last.body, ...changes } }));
    } else {
      await this.#data.addEdit(writes, type, id, "update", { base: pickFields(record, changes), body: changes });
    }
  }

  async #delete(writes: Change[], type: string, id: string, options: Fields = {}): Promise<void> {
    const known = await this.#data.record(type, id);
    const base = await this.#existing(type, id);
    const seen = Number((await this.#data.store.get("facts", "revision")) ?? 0);
    await this.#data.addEdit(writes, type, id, "delete", { base, body: options, etag: known?.etag ?? null, seen });
  }

  async #existing(type: string, id: string): Promise<Fields> {
    const record = await this.#data.current(type, id);
    if (record === undefined) throw new Error(`there is no ${type} ${id}`);
    return record;
  }
}

// The records with the edits of their type. Those that hang on a person that was deleted here are hidden.
function withEdits<T extends RecordType>(
  type: T,
  known: Map<string, Fields | undefined>,
  edits: Edit[],
): Map<string, Records[T]> {
  const found = new Map(known);
  const gonePeople = new Set<string>();
  for (const edit of edits) {
    if (edit.type === type) found.set(edit.id, applyEdits(found.get(edit.id), [edit]));
    if (edit.type !== "person") continue;
    if (edit.action === "delete" && edit.state !== "refused") gonePeople.add(edit.id);
    if (edit.action === "restore") gonePeople.delete(edit.id);
  }
  for (const [id, record] of found) {
    if (record === undefined || peopleOf(type, record).some((person) => gonePeople.has(person))) found.delete(id);
  }
  return found as Map<string, never>;
}

// The people without whom a record is not shown. An interaction stays while one of its people is there.
function peopleOf(type: RecordType, record: Fields): string[] {
  if (type === "interaction") {
    const ids = record["personIds"] as string[];
    return ids.length === 1 ? ids : [];
  }
  return [record["personId"], record["relatedPersonId"]].filter((id) => typeof id === "string");
}

// Whether the new record cannot exist without the one with this id.
function hangsOn({ type, body }: Edit, id: string): boolean {
  return peopleOf(type as RecordType, body).includes(id);
}
