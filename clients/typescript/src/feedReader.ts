// Reads the change feed into the store.
import type { Connection } from "./connection.ts";
import { OtherAccountError, requireSuccess } from "./errors.ts";
import { type LocalData, putRecord } from "./localData.ts";
import type { Change, Fields, Rows } from "./store.ts";

const PAGE_SIZE = 1000;

// People and what a list of them shows come first. Each feed has a cursor of its own, as a cursor belongs to its types: a
// type that came later has one, too, so that a store of before reads it alone. Stores of older versions have a single cursor
// for all types, and go on with that.
const FEEDS = [
  { cursor: "cursor of people", types: "settings,customFieldTemplate,relationshipType,group,person" },
  { cursor: "cursor of the rest", types: "importantDate,relationship,interaction,dismissal,destination" },
  { cursor: "cursor of meetings and shares", types: "meetingProposal,share,shareConflict" },
] as const;
const WHOLE_FEED = { cursor: "cursor", types: "" } as const;
type Feed = (typeof FEEDS)[number] | typeof WHOLE_FEED;

// A fact: the account was read to the end once.
const COMPLETE = "complete";

// How far the first reading is: records of `total`, an estimate, or null while it is not known. `isUsable`: all people are
// there.
export interface Progress {
  done: number;
  total: number | null;
  isUsable: boolean;
}

export interface ReadOptions {
  onProgress?: ((progress: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

type Count = (changes: number, isEndOfFeed: boolean) => void;

interface Page {
  changes: { type: string; id: string; revision: number; etag: string | null; deleted: boolean; record: Fields | null }[];
  cursor: string;
  hasMore: boolean;
}

export class FeedReader {
  readonly #data: LocalData;
  readonly #connection: Connection;
  isAccountChecked = false; // whether the account of the connection was compared with that of the store
  #isFirstReading = false;

  constructor(data: LocalData, connection: Connection) {
    this.#data = data;
    this.#connection = connection;
  }

  // Reads to the end of the feed. Each page and its cursor are stored in one write.
  async pull(options: ReadOptions = {}): Promise<void> {
    const { store } = this.#data;
    const feeds: readonly Feed[] = (await store.get("facts", WHOLE_FEED.cursor)) === undefined ? FEEDS : [WHOLE_FEED];
    const cursors = await Promise.all(feeds.map((feed) => store.get("facts", feed.cursor)));
    const isFirst = cursors.slice(0, 2).includes(undefined); // what came later is read beside the others
    this.#isFirstReading = (await store.get("facts", COMPLETE)) === undefined;
    // Without a cursor the service cannot refuse another account.
    if (cursors.includes(undefined) && !this.isAccountChecked) await this.checkAccount(options.signal);
    const count = isFirst && options.onProgress ? await this.#countRecords(options) : () => undefined;
    if (isFirst) {
      for (const feed of feeds) await this.#readFeed(feed, options, count);
    } else {
      await Promise.all(feeds.map((feed) => this.#readFeed(feed, options, count)));
    }
    if (this.#isFirstReading) await store.write([{ table: "facts", key: COMPLETE, row: 1 }]);
  }

  async #readFeed(feed: Feed, options: ReadOptions, count: Count): Promise<void> {
    const cursor = await this.#data.store.get("facts", feed.cursor);
    let next = this.#fetchPage(feed, cursor, options);
    for (;;) {
      const page = await next;
      if (page === undefined) {
        // The cursor has expired: read all records again.
        await this.checkAccount(options.signal);
        await this.#restartReading(feed);
        next = this.#fetchPage(feed, undefined, options);
        continue;
      }
      // The next page is fetched while this one is written. If that fails, it is noticed in the next round.
      next = page.hasMore ? this.#fetchPage(feed, page.cursor, options) : Promise.resolve(undefined);
      next.catch(() => undefined);
      await this.#applyPage(feed, page);
      count(page.changes.length, !page.hasMore);
      if (!page.hasMore) return;
    }
  }

  // Returns undefined if the cursor has expired.
  async #fetchPage(feed: Feed, cursor: Rows["facts"] | undefined, { signal }: ReadOptions): Promise<Page | undefined> {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
    if (feed.types) query.set("types", feed.types);
    if (cursor !== undefined) query.set("cursor", String(cursor));
    const response = await this.#connection.request("GET", `/api/changes?${query}`, undefined, { signal });
    if (response.status === 410 && cursor !== undefined) return undefined;
    const page = await requireSuccess(response);
    this.isAccountChecked = true;
    return page as unknown as Page;
  }

  // Returns a function that reports progress. The counts of the account are the best estimate that the service has.
  async #countRecords({ onProgress, signal }: ReadOptions): Promise<Count> {
    const stats = await this.#connection.ask("GET", "/api/dashboard/stats", undefined, { signal });
    const total: number = stats["peopleCount"] + stats["groupsCount"] + stats["relationshipsCount"];
    let done = 0;
    let isUsable = false;
    onProgress?.({ done, total, isUsable });
    return (changes, isEndOfFeed) => {
      done += changes;
      isUsable ||= isEndOfFeed; // the people are in the first feed
      onProgress?.({ done, total: Math.max(total, done), isUsable });
    };
  }

  // Throws if the connection is of another account: it must not get this copy's edits.
  async checkAccount(signal?: AbortSignal): Promise<void> {
    const profile = await this.#connection.ask("GET", "/api/user/profile", undefined, { signal });
    const accountId: string = profile["user"].id;
    await this.#data.change("sync", async (writes) => {
      const { store } = this.#data;
      const settings = async () => (await store.all("records", { prefix: "settings/" }))[0]?.id;
      // Stores of older versions lack the fact, but have the record of the account's settings.
      const owner = (await store.get("facts", "account")) ?? (await settings()) ?? accountId;
      if (owner !== accountId) throw new OtherAccountError(accountId);
      if ((await store.get("facts", "account")) === undefined) writes.push({ table: "facts", key: "account", row: accountId });
    });
    this.isAccountChecked = true;
  }

  async #restartReading(feed: Feed): Promise<void> {
    const reading = (await this.#data.reading()) + 1;
    await this.#data.change("sync", async (writes) => {
      writes.push({ table: "facts", key: feed.cursor }, { table: "facts", key: "reading", row: reading });
      writes.push({ table: "facts", key: `${feed.cursor}, anew`, row: reading });
    });
  }

  async #applyPage(feed: Feed, page: Page): Promise<void> {
    const { store } = this.#data;
    const reading = await this.#data.reading();
    const anewSince = await store.get("facts", `${feed.cursor}, anew`);
    const isLast = !page.hasMore && anewSince !== undefined;
    const write = async (writes: Change[]) => {
      const changed = new Set<string>();
      let newest = Number((await store.get("facts", "revision")) ?? 0);
      for (const { type, id, etag, deleted, record, revision } of page.changes) {
        changed.add(`${type}/${id}`);
        newest = Math.max(newest, revision);
        if (deleted || record === null) await this.#data.applyDeletion(writes, type, id);
        else writes.push(putRecord({ type, id, etag: etag ?? "", record, reading, revision }));
      }
      for (const row of isLast ? await store.all("records") : []) {
        const isOfFeed = feed.types === "" || feed.types.split(",").includes(row.type);
        if (!isOfFeed || row.reading >= Number(anewSince) || changed.has(`${row.type}/${row.id}`)) continue;
        await this.#data.applyDeletion(writes, row.type, row.id);
      }
      if (isLast) writes.push({ table: "facts", key: `${feed.cursor}, anew` });
      writes.push({ table: "facts", key: "revision", row: newest }, { table: "facts", key: feed.cursor, row: page.cursor });
    };
    await this.#data.change("sync", write, { isFirstReading: this.#isFirstReading });
    this.#data.report.pulled += page.changes.length;
  }
}
