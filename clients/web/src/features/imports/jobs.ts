// The imports that this tab has begun. They run on while other pages are shown; `/import/{ids}` shows how far they are.
import { effect, signal } from "@preact/signals";
import { newId, RefusedError } from "contacts-client";
import { navigate, place } from "../../app/router.ts";
import type { Account } from "../../store/account.ts";
import { connection, account as current } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import { type Chosen, formOf, pathOf, type Receipt } from "./files.ts";

export interface Progress {
  done: number;
  total: number;
}

export interface Job {
  id: string; // of the import
  name: string; // of the file
  progress: Progress | null; // null: it waits, or its first people are being read
  receipt: Receipt | null; // once it has ended
  problem: Problem | null; // it was refused
  isLost: boolean; // the answer did not come: the service knows what became of it
}

export const jobs = signal<Job[]>([]);
effect(() => {
  if (!current.value) jobs.value = [];
});
const WATCH_MILLISECONDS = 700;

// Of which imports Today has to tell the end: in this browser, until it was seen. Removed with the drafts.
const key = (account: Account) => `draft ${account.id} imports`;
export const toTell = signal<string[]>([]);

export function readToTell(account: Account): void {
  toTell.value = JSON.parse(localStorage.getItem(key(account)) ?? "[]") as string[];
}

export function tell(account: Account, ids: string[]): void {
  toTell.value = ids;
  if (ids.length) localStorage.setItem(key(account), JSON.stringify(ids));
  else localStorage.removeItem(key(account));
}

// Brings in what was looked at, file after file, and shows it.
export function start(account: Account, files: Chosen[], choices: Record<string, string>): void {
  const begun = files.map((file) => ({ file, job: { id: newId(), name: file.file.name, progress: null, receipt: null, problem: null, isLost: false } satisfies Job as Job }));
  jobs.value = [...jobs.value, ...begun.map(({ job }) => job)];
  const ids = begun.map(({ job }) => job.id);
  tell(account, ids);
  navigate(receiptPath(ids), { replace: true });
  void (async () => {
    for (const { file, job } of begun) await run(file, job.id, choices);
    if (current.peek() !== account) return; // somebody has signed out
    account.syncer.syncNow();
    if (place.value.path !== receiptPath(ids)) sayEnd(ids);
  })();
}

export const receiptPath = (ids: string[]) => `/import/${ids.join(",")}`;

async function run(file: Chosen, id: string, choices: Record<string, string>): Promise<void> {
  let isRunning = true;
  const watching = (async () => {
    while (isRunning) {
      await new Promise((done) => setTimeout(done, WATCH_MILLISECONDS));
      const state = isRunning ? await connection.ask("GET", `/api/imports/${id}`).catch(() => null) : null;
      if (isRunning && state?.["state"] === "running") update(id, { progress: { done: state["done"], total: state["total"] } });
    }
  })();
  try {
    update(id, { receipt: (await connection.ask("POST", pathOf(file), formOf(file, { ...choices, id }))) as Receipt });
  } catch (error) {
    update(id, error instanceof RefusedError ? { problem: problemOf(error) } : { isLost: true });
  }
  isRunning = false;
  await watching;
}

function update(id: string, changes: Partial<Job>): void {
  jobs.value = jobs.value.map((job) => (job.id === id ? { ...job, ...changes } : job));
}

function sayEnd(ids: string[]): void {
  const ended = jobs.value.filter(({ id }) => ids.includes(id));
  const count = ended.reduce((sum, { receipt }) => sum + (receipt?.imported ?? 0), 0);
  const show = () => navigate(receiptPath(ids));
  if (ended.some(({ receipt }) => !receipt)) toast(t("A file could not be brought in."), show, t("Show"));
  else toast(tn("{count} person came in", "{count} people came in", count), show, t("Show"));
}
