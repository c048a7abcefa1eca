// People who are named in a form and not there yet: they are made with what the form saves, not before.
import type { Account } from "../../store/account.ts";

const NEW = "new:"; // before the name, in place of an id

export function newPerson(name: string): string {
  return `${NEW}${name.trim()}`;
}

export function nameOfPicked(account: Account, id: string): string | undefined {
  return id.startsWith(NEW) ? id.slice(NEW.length) : account.person(id)?.name;
}

// The ids, with new people in place of names.
export async function createNewPeople(account: Account, ids: readonly string[]): Promise<string[]> {
  const made: string[] = [];
  for (const id of ids) made.push(id.startsWith(NEW) ? await account.copy.create("person", namesOf(id.slice(NEW.length))) : id);
  return made;
}

// The first word is the given name, the others are the surname.
export function namesOf(text: string): { name: string; surname?: string } {
  const [name = "", ...rest] = text.trim().split(/\s+/);
  return { name, ...(rest.length ? { surname: rest.join(" ") } : {}) };
}
