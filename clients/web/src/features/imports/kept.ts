// Files that wait in this browser for a network, in the store of the account's copy: they go where it goes.
import { signal } from "@preact/signals";
import type { Account } from "../../store/account.ts";

const PREFIX = "import ";
const MAX_BYTES = 40 * 1024 * 1024; // of all files
const MAX_FILES = 10;

export const kept = signal<File[]>([]);

export async function readKept({ store }: Account): Promise<void> {
  kept.value = (await store.all("facts", { prefix: PREFIX })) as File[];
}

// False if it was not kept: there are too many already, or the browser stores no files.
export async function keep(account: Account, file: File): Promise<boolean> {
  await readKept(account);
  if (kept.value.some((each) => each.name === file.name && each.size === file.size && each.lastModified === file.lastModified)) return true;
  if (kept.value.length >= MAX_FILES || kept.value.reduce((sum, { size }) => sum + size, file.size) > MAX_BYTES) return false;
  try {
    await account.store.write([{ table: "facts", key: `${PREFIX}${kept.value.length}`, row: file }]);
  } catch {
    return false;
  }
  await readKept(account);
  return true;
}

// Takes all of them out, to be looked at or to be forgotten.
export async function takeKept(account: Account): Promise<File[]> {
  await readKept(account);
  const files = kept.value;
  await account.store.write(files.map((_, index) => ({ table: "facts", key: `${PREFIX}${index}` })));
  kept.value = [];
  return files;
}
