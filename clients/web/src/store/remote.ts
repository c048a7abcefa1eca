// What is not in the copy and is asked for: sessions, trash, imports ... Read when a view opens, again when it says so, and when
// there is a network again after a failure.
import { useEffect, useMemo, useState } from "preact/hooks";
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { RefusedError } from "contacts-client";
import { isUnreachable } from "../app/reach.ts";
import { type Problem, problemOf } from "../ui/problems.ts";

export interface Remote<V> {
  data: V | undefined; // undefined while it is read for the first time, or could not be read
  problem: Problem | null;
}

// `read` is called with a signal that ends the request when the view closes. `name` says what it depends on.
export function useRemote<V>(name: string, read: (signal: AbortSignal) => Promise<V>): [ReadonlySignal<Remote<V>>, () => Promise<void>] {
  const value = useMemo(() => signal<Remote<V>>({ data: undefined, problem: null }), [name]);
  const controller = useMemo(() => new AbortController(), [name]);
  const newest = useMemo(() => ({ number: 0 }), [name]);
  const reload = async () => {
    const number = ++newest.number;
    try {
      const data = await read(controller.signal);
      if (number === newest.number) value.value = { data, problem: null };
    } catch (error) {
      // A read that began earlier says nothing of what a later one found.
      if (number === newest.number && !controller.signal.aborted) value.value = { data: value.peek().data, problem: problemOf(error) };
    }
  };
  useEffect(() => {
    void reload();
    const readAgain = () => value.peek().problem && void reload();
    addEventListener("online", readAgain);
    // A refused connection is said at once, while the request is still repeated.
    const stop = effect(() => {
      const { data, problem } = value.peek();
      if (!isUnreachable.value) readAgain();
      else if (!data && !problem) value.value = { data, problem: problemOf(null) };
    });
    return () => {
      stop();
      removeEventListener("online", readAgain);
      controller.abort();
    };
  }, [name]);
  return [value, reload];
}

// A request whose refusal is shown, after which the list is read again. `done` is called where it was not refused.
export function useAttempt(
  reload: () => Promise<void>,
  done?: () => void,
): [Problem | null, (work: () => Promise<unknown>) => Promise<void>] {
  const [problem, setProblem] = useState<Problem | null>(null);
  const attempt = async (work: () => Promise<unknown>) => {
    setProblem(null);
    try {
      await work();
      done?.();
    } catch (error) {
      setProblem(problemOf(error));
    }
    await reload();
  };
  return [problem, attempt];
}

// The bodies of the answers to a batch. What is not there (404) is an empty one; any other refusal is thrown, so that it is
// shown and not taken for nothing.
export function bodiesOf(results: { status: number; body: Record<string, any> }[]): any[] {
  const failed = results.find(({ status }) => status >= 400 && status !== 404);
  if (failed) throw new RefusedError(failed.status, failed.body);
  return results.map(({ status, body }) => (status === 404 ? {} : body));
}
