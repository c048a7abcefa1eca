// Records in IndexedDB, inside a transaction over `records` and `blocks`.
//
// A row takes the browser 0.1 ms to write, however small it is. So the records of the first reading are written a hundred
// to a row, into blocks. A record that is written later has a row of its own in `records`, and so has one that is removed,
// if a block has it. Blocks are only written while `records` is empty: a row of its own is thus newer than the record in
// a block, and of two blocks that have a record the later one has the newer record.
import type { Change, RecordRow } from "./store.ts";

const BLOCK_SIZE = 100;
const REMOVED = "removed"; // instead of a row

// Records of one type: their keys, all of their refs, and each row as JSON.
interface Block {
  type: string;
  keys: string[];
  refs: string[];
  rows: string[];
}

export function createBlocks(database: IDBDatabase): void {
  const blocks = database.createObjectStore("blocks", { autoIncrement: true });
  blocks.createIndex("type", "type");
  blocks.createIndex("keys", "keys", { multiEntry: true });
  blocks.createIndex("refs", "refs", { multiEntry: true });
}

// The records with these keys, in the order of `keys`.
export async function readRecords(transaction: IDBTransaction, keys: string[]): Promise<(RecordRow | undefined)[]> {
  const blocks = transaction.objectStore("blocks");
  const own = await Promise.all(keys.map((key) => resultOf(transaction.objectStore("records").get(key))));
  const numbers = await Promise.all(keys.map((key, at) => (own[at] === undefined ? lastBlockOf(blocks, key) : undefined)));
  const wanted = [...new Set(numbers.filter((number) => number !== undefined))];
  const read = await Promise.all(wanted.map((number) => resultOf<Block>(blocks.get(number))));
  const byNumber = new Map(wanted.map((number, at) => [number, read[at]!]));
  return keys.map((key, at) => {
    if (own[at] !== undefined) return fromStored(own[at]);
    const block = byNumber.get(numbers[at]!);
    return block && (JSON.parse(block.rows[block.keys.indexOf(key)]!) as RecordRow);
  });
}

async function lastBlockOf(blocks: IDBObjectStore, key: string): Promise<IDBValidKey | undefined> {
  return (await resultOf(blocks.index("keys").getAllKeys(key))).at(-1);
}

// The records whose key begins with `prefix`, in the order of their keys.
export async function readByPrefix(transaction: IDBTransaction, prefix = ""): Promise<RecordRow[]> {
  const [records, blocks] = [transaction.objectStore("records"), transaction.objectStore("blocks")];
  const [type, isOfType] = [prefix.split("/")[0]!, prefix.includes("/")];
  const [keys, own, found] = await Promise.all([
    resultOf(records.getAllKeys(startingWith(prefix))),
    resultOf<unknown[]>(records.getAll(startingWith(prefix))),
    resultOf<Block[]>(isOfType ? blocks.index("type").getAll(type) : blocks.getAll()),
  ]);
  const rows = new Map<string, unknown>();
  // Later ones replace earlier ones.
  for (const block of found) block.keys.forEach((key, at) => key.startsWith(prefix) && rows.set(key, block.rows[at]));
  keys.forEach((key, at) => rows.set(String(key), own[at]));
  const sorted = found.length ? [...rows].sort(([one], [other]) => (one < other ? -1 : 1)) : [...rows];
  return sorted.flatMap(([, row]) => (row === REMOVED ? [] : typeof row === "string" ? (JSON.parse(row) as RecordRow) : fromStored(row)!));
}

// The records that have this one of their refs, in the order of their keys.
export async function readByRef(transaction: IDBTransaction, ref: string): Promise<RecordRow[]> {
  const [own, blocks] = await Promise.all([
    resultOf(transaction.objectStore("records").index("refs").getAllKeys(ref)),
    resultOf<Block[]>(transaction.objectStore("blocks").index("refs").getAll(ref)),
  ]);
  const text = JSON.stringify(ref);
  const inBlocks = blocks.flatMap(({ keys, rows }) => keys.filter((_, at) => rows[at]!.includes(text)));
  const rows = await readRecords(transaction, [...new Set([...own.map(String), ...inBlocks])].sort());
  return rows.filter((row) => row !== undefined).filter(({ refs }) => refs?.includes(ref));
}

// Writes the changes of records among `changes`.
export async function writeRecords(transaction: IDBTransaction, changes: Change[], isFirstReading: boolean): Promise<void> {
  const [records, blocks] = [transaction.objectStore("records"), transaction.objectStore("blocks")];
  const last = new Map(changes.flatMap(({ table, key, row }) => (table === "records" ? [[key, row] as const] : [])));
  const puts = [...last].flatMap(([key, row]) => (row ? [[key, row] as const] : []));
  const removed = [...last.keys()].filter((key) => !last.get(key));
  const inBlocks = isFirstReading && (await resultOf(records.getAllKeys(null, 1))).length === 0;
  if (inBlocks) for (const block of toBlocks(puts)) blocks.add(block);
  else for (const [key, row] of puts) records.put(toStored(row), key);
  const numbers = await Promise.all(removed.map((key) => lastBlockOf(blocks, key)));
  removed.forEach((key, at) => (numbers[at] === undefined ? records.delete(key) : records.put(REMOVED, key)));
}

export function startingWith(prefix: string): IDBKeyRange {
  return IDBKeyRange.bound(prefix, `${prefix}\uffff`);
}

function toBlocks(puts: (readonly [key: string, row: RecordRow])[]): Block[] {
  const blocks: Block[] = [];
  const unfilled = new Map<string, Block>();
  for (const [key, row] of puts) {
    let block = unfilled.get(row.type);
    if (!block) blocks.push((block = { type: row.type, keys: [], refs: [], rows: [] }));
    block.keys.push(key);
    block.refs.push(...(row.refs ?? []));
    block.rows.push(JSON.stringify(row));
    if (block.keys.length < BLOCK_SIZE) unfilled.set(row.type, block);
    else unfilled.delete(row.type);
  }
  return blocks;
}

// The record of a row is stored as text: to copy a text into the database and out of it costs less than to copy objects.
function toStored(row: RecordRow): object {
  return { ...row, record: JSON.stringify(row.record) };
}

function fromStored(row: unknown): RecordRow | undefined {
  if (row === REMOVED) return undefined;
  const { record } = row as { record: unknown };
  return typeof record === "string" ? { ...(row as RecordRow), record: JSON.parse(record) } : (row as RecordRow); // as objects before version 3
}

export function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });
}
