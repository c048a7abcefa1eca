// Hooks for single records of the copy: read when a view opens, and again when they change.
import { type ReadonlySignal, signal } from "@preact/signals";
import { LiveTable, type Records, type RecordType } from "contacts-client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useAccount } from "../app/session.ts";

export type Hanging = "importantDate" | "interaction" | "relationship";

// The record with its unsent edits: undefined while it is read, null if there is none.
export function useRecord<T extends RecordType>(type: T, id: string): ReadonlySignal<Records[T] | null | undefined> {
  const { copy } = useAccount();
  return useWatched<Records[T] | null | undefined>(
    undefined,
    async () => (await copy.get(type, id)) ?? null,
    (keys) => keys.has(`${type}/${id}`),
    `${type}/${id}`,
  );
}

// The dates, interactions or relationships of a person; undefined while they are read.
export function useRecordsOf<T extends Hanging>(type: T, personId: string): ReadonlySignal<Records[T][] | undefined> {
  const { copy } = useAccount();
  return useWatched<Records[T][] | undefined>(
    undefined,
    () => copy.of(type, personId),
    (keys) => [...keys].some((key) => key.startsWith(`${type}/`)),
    `${type} ${personId}`,
  );
}

// Records by their ids; undefined while they are read for the first time. Those that were read stay while others are read.
export function useMany<T extends RecordType>(type: T, ids: readonly string[]): ReadonlyMap<string, Records[T]> | undefined {
  const { copy } = useAccount();
  const [found, setFound] = useState<ReadonlyMap<string, Records[T]>>();
  const key = ids.join();
  useEffect(() => {
    let isWanted = true;
    const read = async () => {
      const records = await copy.many(type, ids);
      if (isWanted) setFound(records);
    };
    void read();
    const unsubscribe = copy.subscribe(({ keys }) => ids.some((id) => keys.has(`${type}/${id}`)) && void read());
    return () => {
      isWanted = false;
      unsubscribe();
    };
  }, [copy, type, key]);
  return found;
}

// All records of a type that is not held in memory; undefined while they are read, or if they are not wanted.
export function useAll<T extends RecordType>(type: T, isWanted = true): ReadonlySignal<Records[T][] | undefined> {
  const { copy } = useAccount();
  const value = useMemo(() => signal<Records[T][] | undefined>(undefined), [copy, type, isWanted]);
  useEffect(() => {
    if (!isWanted) return;
    // Read once and then record by record: the first sync alone changes them a hundred times.
    const table = new LiveTable(copy, type, (record) => record, () => (value.value = [...table.rows.values()]));
    void table.open();
    return () => table.close();
  }, [copy, type, isWanted]);
  return value;
}

// A number that rises whenever records of the type change.
export function useChanges(type: RecordType): number {
  const { copy } = useAccount();
  const [version, setVersion] = useState(0);
  useEffect(
    () => copy.subscribe(({ keys }) => [...keys].some((key) => key.startsWith(`${type}/`)) && setVersion((before) => before + 1)),
    [copy, type],
  );
  return version;
}

function useWatched<V>(
  initial: V,
  read: () => Promise<V>,
  concerns: (keys: ReadonlySet<string>) => boolean,
  name: string,
): ReadonlySignal<V> {
  const { copy } = useAccount();
  const value = useMemo(() => signal<V>(initial), [copy, name]);
  useEffect(() => {
    let isWanted = true;
    let isReading = false;
    let isStale = false;
    const refresh = async () => {
      isStale = true;
      if (isReading) return;
      isReading = true;
      while (isStale && isWanted) {
        isStale = false;
        const found = await read();
        if (isWanted) value.value = found;
      }
      isReading = false;
    };
    void refresh();
    const unsubscribe = copy.subscribe(({ keys }) => concerns(keys) && void refresh());
    return () => {
      isWanted = false;
      unsubscribe();
    };
  }, [copy, name]);
  return value;
}
