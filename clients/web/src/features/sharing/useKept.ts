// What is asked for and also read without a network: the last answer of the service is kept in the store of the account's copy.
import { useEffect, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { type Remote, useRemote } from "../../store/remote.ts";

export function useKept<V>(name: string, read: (signal: AbortSignal) => Promise<V>): [Remote<V>, () => Promise<void>] {
  const { store } = useAccount();
  const key = `kept ${name}`;
  const [kept, setKept] = useState<V>();
  const [found, reload] = useRemote(name, async (signal) => {
    const data = await read(signal);
    await store.write([{ table: "facts", key, row: JSON.stringify(data) }]).catch(() => undefined); // no room
    return data;
  });
  useEffect(() => {
    let isWanted = true;
    setKept(undefined);
    void store.get("facts", key).then((row) => isWanted && row !== undefined && setKept(JSON.parse(String(row)) as V));
    return () => void (isWanted = false);
  }, [key]);
  const { data, problem } = found.value;
  return [{ data: data ?? kept, problem }, reload];
}
