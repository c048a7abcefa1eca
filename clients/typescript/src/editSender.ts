// Sends the edits of the store to the service, in order.
import { isAnswer, isHeld, sendAnswers, together } from "./answers.ts";
import type { Connection } from "./connection.ts";
import { bodyOf, RefusedError } from "./errors.ts";
import type { FeedReader } from "./feedReader.ts";
import { newId } from "./ids.ts";
import { HANGING_TYPES, isDerived, listPath, PROPOSAL, toFeedRecord } from "./kinds.ts";
import { dropEdit, editKey, type LocalData, pickFields, putConflict, putEdit, putRecord } from "./localData.ts";
import { isSame, merge, withKnownIds } from "./merge.ts";
import { fromDataUrl, isDataUrl } from "./photos.ts";
import type { Change, Edit, Fields, RecordRow } from "./store.ts";

// Of so many edits that were executed the copy remembers which version of the record they made.
const OWN_VERSIONS_KEPT = 200;

export class EditSender {
  readonly #data: LocalData;
  readonly #connection: Connection;
  readonly #reader: FeedReader;
  #signal: AbortSignal | undefined;

  constructor(data: LocalData, connection: Connection, reader: FeedReader) {
    this.#data = data;
    this.#connection = connection;
    this.#reader = reader;
  }

  // Returns how many edits were sent.
  async push(signal?: AbortSignal): Promise<number> {
    this.#signal = signal;
    let sent = 0;
    const mayBeAnother = this.#connection.isSession || !this.#reader.isAccountChecked;
    if (mayBeAnother && (await this.#data.edits()).length) await this.#reader.checkAccount(signal);
    for (let number = 0; ; ) {
      const edit = (await this.#data.edits()).find((each) => each.number > number);
      if (edit === undefined) break;
      number = edit.number;
      if (edit.state === "refused" || isHeld(edit) || (await this.#isBlocked(edit))) continue;
      sent += await this.#send(edit);
    }
    this.#data.report.pushed += sent;
    return sent;
  }

  #request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response> {
    return this.#connection.request(method, path, body, { headers, signal: this.#signal });
  }

  // Whether an earlier edit that creates or restores the record was refused.
  async #isBlocked(edit: Edit): Promise<boolean> {
    const earlier = (await this.#data.edits(edit.type, edit.id)).filter((each) => each.number < edit.number);
    return earlier.some(({ action, state }) => (action === "create" || action === "restore") && state === "refused");
  }

  // Sends an edit, if it still exists. Returns how many were sent with it.
  async #send(edit: Edit): Promise<number> {
    const now = await this.#markAsSending(edit);
    if (now === undefined) return 0;
    if (isAnswer(now)) return this.#sendAnswer(now);
    const senders = { create: this.#sendCreate, update: this.#sendUpdate, delete: this.#sendDelete, restore: this.#sendRestore };
    await senders[now.action as keyof typeof senders].call(this, now);
    return 1;
  }

  // Reads the edit again and marks it as sent in one write: until then the user may extend or discard it.
  async #markAsSending(edit: Edit): Promise<Edit | undefined> {
    let now: Edit | undefined;
    await this.#data.change("sync", async (writes) => {
      now = await this.#data.store.get("edits", editKey(edit.number));
      if (now) writes.push(putEdit((now = { ...now, state: "sending" })));
    });
    return now;
  }

  // With others that say the same. If one of them is refused none is executed, so they are sent singly then.
  async #sendAnswer(edit: Edit): Promise<number> {
    const answers = [edit];
    for (const each of together(edit, await this.#data.edits(PROPOSAL))) {
      const now = await this.#markAsSending(each);
      if (now) answers.push(now);
    }
    const refusal = await sendAnswers(this.#data, this.#connection, answers, this.#signal);
    if (refusal === null) return answers.length;
    if (answers.length === 1) await this.#refuseAnswer(edit, refusal);
    for (const each of answers.length > 1 ? answers : []) {
      const single = await sendAnswers(this.#data, this.#connection, [each], this.#signal);
      if (single) await this.#refuseAnswer(each, single);
    }
    return answers.length;
  }

  // A dismissal of what is not there any more has nothing to say.
  #refuseAnswer(edit: Edit, response: Response): Promise<void> {
    const isGone = edit.action === "dismiss" && response.status === 400;
    return this.#data.change("sync", async (writes) => (isGone ? void writes.push(dropEdit(edit)) : this.#refuse(writes, edit, response)));
  }

  async #sendCreate(edit: Edit): Promise<void> {
    const key = { "Idempotency-Key": edit.idempotencyKey };
    let response = await this.#request("POST", listPath(edit.type, edit.body), edit.body, key);
    const isEarlier = response.headers.get("Idempotent-Replayed") === "true" || (await errorCode(response)) === "id_taken";
    if (isEarlier) {
      // It was created by an earlier attempt. The response shows it as it was then, so ask for the current record.
      const now = await this.#request("GET", `${listPath(edit.type, edit.body)}/${edit.id}`);
      if (response.ok && (await isMissing(now))) {
        return this.#data.change("sync", (writes) => this.#data.applyDeletion(writes, edit.type, edit.id));
      }
      if (now.ok) response = now;
    }
    await this.#complete(edit, response, edit.body, undefined, true, isEarlier);
  }

  async #sendUpdate(given: Edit): Promise<void> {
    for (let edit = given; ; ) {
      const known = await this.#data.record(edit.type, edit.id);
      if (known === undefined) {
        return this.#data.change("sync", (writes) => this.#data.applyDeletion(writes, edit.type, edit.id));
      }
      // A photo that was sent before, and whose response was lost, may be the one that the record has now: only the same
      // request under the same key can tell.
      const isRepeated = edit.sentWith !== undefined;
      if (!isRepeated) edit = await this.#rebase(edit, known);
      if (Object.keys(edit.body).length === 0) return;
      const isPhoto = "photo" in edit.body;
      if (isPhoto && !isRepeated) edit = await this.#noteSentWith(edit, known.etag);
      const path = `${listPath(edit.type, known.record)}/${edit.id}`;
      let response = await this.#requestUpdate(path, edit, known);
      if ((isRepeated && response.status === 412) || (await this.#refreshIfStale(edit, response))) {
        edit = { ...edit, sentWith: undefined };
        continue;
      }
      if (isPhoto && response.ok) {
        // Its answer is not the record, which others may have changed since.
        response = await this.#request("GET", path);
        if (await this.#refreshIfStale(edit, response)) continue;
      }
      await this.#complete(edit, response, edit.body, isPhoto ? undefined : known.etag);
      return;
    }
  }

  async #noteSentWith(edit: Edit, etag: string): Promise<Edit> {
    const noted: Edit = { ...edit, sentWith: etag };
    await this.#data.change("sync", async (writes) => void writes.push(putEdit(noted)));
    return noted;
  }

  #requestUpdate(path: string, edit: Edit, known: RecordRow): Promise<Response> {
    const { type, body, sentWith, idempotencyKey } = edit;
    const headers = { "If-Match": sentWith ?? known.etag };
    if ("photo" in body) {
      const { photo } = body;
      if (!isDataUrl(photo)) return this.#request("DELETE", `${path}/photo`, undefined, headers);
      const form = new FormData();
      form.set("photo", fromDataUrl(photo));
      // A refusal is kept under its key, too: the next attempt, with another ETag, is another request.
      return this.#request("POST", `${path}/photo`, form, { ...headers, "Idempotency-Key": `${idempotencyKey} ${sentWith}` });
    }
    // The PUT of a date replaces the whole record; others change the fields that they contain.
    return this.#request("PUT", path, type === "importantDate" ? { ...known.record, ...body } : body, headers);
  }

  // Merges the edit with the current record. Fields that both sides changed become conflicts.
  async #rebase(edit: Edit, known: RecordRow): Promise<Edit> {
    const { body, clashes } = merge(edit.base, edit.body, known.record);
    const changed: Edit = { ...edit, base: pickFields(known.record, body), body };
    await this.#data.change("sync", async (writes) => {
      writes.push(Object.keys(body).length ? putEdit(changed) : dropEdit(edit));
      for (const clash of clashes) this.#data.addConflict(writes, edit, clash);
    });
    return changed;
  }

  async #sendDelete(edit: Edit): Promise<void> {
    // From the record: a merge of people changes the path of their dates.
    const known = await this.#data.record(edit.type, edit.id);
    const path = `${listPath(edit.type, known?.record ?? edit.base)}/${edit.id}`;
    const options = Object.keys(edit.body).length ? edit.body : undefined;
    const send = (etag: string | null) => this.#request("DELETE", path, options, etag ? { "If-Match": etag } : undefined);
    let response = await send(edit.etag);
    if ((await currentRecord(response)) !== undefined && (await this.#hasOnlyOwnChanges(edit, response))) {
      response = await send(response.headers.get("ETag"));
    }
    const isGone = await isMissing(response);
    const current = await currentRecord(response);
    await this.#data.change("sync", async (writes) => {
      if (current !== undefined) {
        const row = await this.#buildRow(edit, response, current);
        writes.push(putRecord(row), dropEdit(edit));
        this.#data.addConflict(writes, edit, { field: null, base: edit.base, mine: null, theirs: row.record });
      } else if (response.ok || isGone) {
        writes.push(dropEdit(edit));
        await this.#data.removeRecord(writes, edit.type, edit.id);
      } else {
        await this.#refuse(writes, edit, response);
      }
    });
  }

  // Whether a record that is to be deleted differs from what its user saw only by edits of this device: the record is the
  // same but for what the service derives, and the dates, interactions and relationships that are new or were changed
  // since then are the device's own.
  async #hasOnlyOwnChanges(edit: Edit, response: Response): Promise<boolean> {
    const current = toFeedRecord(edit.type, (await currentRecord(response)) ?? {});
    const fields = Object.keys(edit.base).filter((field) => field in current && !isDerived(field));
    if (!fields.every((field) => isSame(edit.base[field], current[field]))) return false;
    await this.#reader.pull({ signal: this.#signal });
    const { store } = this.#data;
    const own = await this.#ownVersions();
    const rows = await store.many("records", Object.keys(own));
    // Both rows of a relationship are changed by one edit: they have its revision, and different ETags.
    const ownRevisions = new Set(rows.flatMap((row) => (row && own[`${row.type}/${row.id}`] === row.etag ? row.revision : [])));
    const hanging = await Promise.all(HANGING_TYPES.map((type) => store.all("records", { ref: `${type} ${edit.id}` })));
    const isSeenOrOwn = ({ revision }: RecordRow) => (revision ?? 0) <= (edit.seen ?? 0) || ownRevisions.has(revision);
    return hanging.flat().every(isSeenOrOwn);
  }

  // The ETag of the version of each record that an edit of this device has made last.
  async #ownVersions(): Promise<Record<string, string>> {
    return JSON.parse(String((await this.#data.store.get("facts", "ownVersions")) ?? "{}"));
  }

  // Restores a record that was deleted, then updates it. If it was purged, creates a new one.
  async #sendRestore(edit: Edit): Promise<void> {
    const path = `${listPath(edit.type, { ...edit.base, ...edit.body })}/${edit.id}`;
    const key = { "Idempotency-Key": edit.idempotencyKey };
    let response = await this.#request("POST", `${path}/restore`, undefined, key);
    if ((await errorCode(response)) === "not_deleted") response = await this.#request("GET", path);
    if (Object.keys(edit.base).length && (await isMissing(response))) {
      const id = newId();
      const { photo, ...fields }: Fields = { ...edit.base, ...edit.body };
      const body = { ...fields, id };
      const creation: Edit = { ...edit, id, body, base: {}, action: "create", idempotencyKey: newId(), state: "waiting" };
      await this.#data.change("sync", async (writes) => {
        const later = (await this.#data.edits(edit.type, edit.id)).filter((each) => each.number > edit.number);
        writes.push(putEdit(creation), ...later.map((each) => putEdit({ ...each, id })));
        const every = await this.#data.store.all("conflicts");
        const conflicts = every.filter((each) => each.type === edit.type && each.id === edit.id);
        for (const each of conflicts) writes.push(putConflict({ ...each, id }));
        writes.push({ table: "facts", key: "lastMoved", row: id, about: `${edit.type}/${edit.id}` }); // its watchers look again
        // A photo is a request of its own; the earlier one was removed with the record.
        if (isDataUrl(photo)) await this.#data.addEdit(writes, edit.type, id, "update", { base: { photo: null }, body: { photo } });
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
    await this.#data.change("sync", async (writes) => {
      if (current === undefined) return this.#data.applyDeletion(writes, edit.type, edit.id);
      writes.push(putRecord(await this.#buildRow(edit, response, current)));
    });
    return true;
  }

  async #buildRow(edit: Edit, response: Response, record: Fields): Promise<RecordRow> {
    const { type, id } = edit;
    const etag = response.headers.get("ETag") ?? "";
    return { type, id, etag, record: toFeedRecord(type, record), reading: await this.#data.reading() };
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
    await this.#data.change("sync", async (writes) => {
      if (!response.ok) return this.#refuse(writes, edit, response);
      const row = await this.#buildRow(edit, response, body[edit.type]);
      const becomesUpdate = edit.action === "restore" && Object.keys(edit.body).length > 0;
      // The base is what the user saw: others may have changed the record before its deletion.
      const update: Edit = { ...edit, action: "update", base: pickFields(edit.base, edit.body), state: "waiting" };
      writes.push(putRecord(row), becomesUpdate ? putEdit(update) : dropEdit(edit));
      await this.#noteOwnVersion(writes, row);
      for (const later of await this.#data.edits(edit.type, edit.id)) {
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

  async #noteOwnVersion(writes: Change[], { type, id, etag }: RecordRow): Promise<void> {
    const { [`${type}/${id}`]: _, ...others } = await this.#ownVersions();
    const kept = [...Object.entries(others), [`${type}/${id}`, etag]].slice(-OWN_VERSIONS_KEPT);
    writes.push({ table: "facts", key: "ownVersions", row: JSON.stringify(Object.fromEntries(kept)) });
  }

  // Stores a permanent refusal with the edit. A temporary one, such as 401, ends the sync: throws RefusedError.
  async #refuse(writes: Change[], edit: Edit, response: Response): Promise<void> {
    const problem = await bodyOf(response);
    const isFromProxy = response.status === 404 && !("error" in problem);
    const isTemporary = isFromProxy || [401, 408, 429].includes(response.status) || response.status >= 500;
    if (isTemporary || ["in_progress", "read_only_token", "csrf"].includes(problem["code"])) {
      throw new RefusedError(response.status, problem);
    }
    writes.push(putEdit({ ...edit, state: "refused", problem }));
    this.#data.report.refused++;
  }
}

function withIds(before: unknown, now: unknown): unknown {
  return Array.isArray(before) && Array.isArray(now) ? withKnownIds(before, now) : before;
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
