// Three-way merging of a record's fields: what its user saw, what the user made of it, what is there now. Pure functions.
// Where both sides have changed the same thing the service keeps its value; the user's is a Clash, to be shown.
import type { Fields } from "./store.ts";

export interface Clash {
  field: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

// The fields of `mine` as they may be written over `theirs`; `base` has the values that the user saw.
export function merge(base: Fields, mine: Fields, theirs: Fields): { body: Fields; clashes: Clash[] } {
  const body: Fields = {};
  const clashes: Clash[] = [];
  for (const [field, wanted] of Object.entries(mine)) {
    const before = base[field] ?? null;
    const now = theirs[field] ?? null;
    if (isSame(wanted, now)) continue;
    if (isSame(before, now)) {
      body[field] = wanted;
    } else if (Array.isArray(wanted) && Array.isArray(now) && (before === null || Array.isArray(before))) {
      const [result, clashed] = mergeLists(before ?? [], wanted, now);
      if (!isSame(result, now)) body[field] = result;
      if (clashed) clashes.push({ field, base: before, mine: wanted, theirs: now });
    } else {
      clashes.push({ field, base: before, mine: wanted, theirs: now });
    }
  }
  return { body, clashes };
}

// Equal to the service: "" is null, texts are trimmed, and of lists the entries agree, one after the other.
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((entry, place) => agree(entry, other[place]));
  }
  return equal(plain(one), plain(other));
}

// Whether two entries say the same. One without an id was written here, and may leave out what the service adds.
function agree(one: unknown, other: unknown): boolean {
  if (!isEntry(one) || !isEntry(other)) return one === other;
  let said = content(one);
  let known = content(other);
  if ("id" in one && !("id" in other)) [said, known] = [known, said];
  if ("id" in one && "id" in other && Object.keys(said).length !== Object.keys(known).length) return false;
  return Object.entries(said).every(([name, value]) => equal(value, known[name]));
}

function isEntry(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

function plain(value: unknown): unknown {
  if (typeof value === "string") return value.trim() || null;
  return Array.isArray(value) && value.length === 0 ? null : value;
}

const ADDED = new Set(["id", "latitude", "longitude", "geocodeStatus", "template"]);

// What an entry says; ids and what the service adds (the place of an address) left out.
function content(entry: Fields): Fields {
  const said = Object.entries(entry).filter(([name]) => !ADDED.has(name));
  return Object.fromEntries(said.map(([name, value]) => [name, plain(value)]).filter(([, value]) => value != null));
}

// Apply my additions, changes and removals to their list. Returns the list, and whether there was a clash.
// If both sides changed an entry, theirs stays. If one side changed an entry that the other removed, the entry stays.
// It is a clash if something that I did is not in the result.
function mergeLists(base: unknown[], mine: unknown[], theirs: unknown[]): [unknown[], boolean] {
  const before = byKey(base);
  const wanted = byKey(identified(mine, [...base, ...theirs]));
  const now = byKey(theirs);
  const merged: unknown[] = [];
  let clashed = false;
  for (const [key, entry] of now) {
    if (!before.has(key)) {
      clashed ||= wanted.has(key) && !agree(wanted.get(key), entry);
      merged.push(entry);
    } else if (!wanted.has(key)) {
      const isUnchanged = agree(before.get(key), entry);
      clashed ||= !isUnchanged;
      if (!isUnchanged) merged.push(entry);
    } else if (agree(before.get(key), entry)) {
      merged.push(wanted.get(key));
    } else {
      clashed ||= !agree(before.get(key), wanted.get(key)) && !agree(wanted.get(key), entry);
      merged.push(entry);
    }
  }
  for (const [key, entry] of wanted) {
    if (now.has(key) || (isNew(entry) && theirs.some((known) => agree(entry, known)))) continue;
    // No clash where they removed what I changed: mine is sent, so there would be nothing left to choose.
    if (!before.has(key) || !agree(before.get(key), entry)) merged.push(entry);
  }
  return [merged, clashed];
}

function isNew(entry: unknown): boolean {
  return isEntry(entry) && !("id" in entry) && !("templateId" in entry);
}

// Entries, those that were written anew replaced by a known one that says the same.
export function identified(entries: unknown[], known: unknown[]): unknown[] {
  const taken = new Set(entries.filter(isEntry).map((entry) => entry["id"]));
  return entries.map((entry) => {
    if (!isNew(entry)) return entry;
    const alike = known.filter(isEntry).find((each) => "id" in each && !taken.has(each["id"]) && agree(entry, each));
    taken.add(alike?.["id"]);
    return alike ?? entry;
  });
}

// By what makes an entry the same: the template of a custom value, the id, else what it says.
function byKey(entries: unknown[]): Map<string, unknown> {
  return new Map(
    entries.map((entry) => {
      if (!isEntry(entry)) return [String(entry), entry];
      return [String(entry["templateId"] ?? entry["id"] ?? JSON.stringify(content(entry))), entry];
    }),
  );
}
