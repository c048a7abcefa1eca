// Three-way merge of a record's fields: the base that the user saw, the user's version, the service's version. Pure
// functions. If both sides have changed the same field, the service's value stays, and the user's becomes a Clash, which
// has to be shown.
import type { Fields } from "./store.ts";

// A field that both sides have changed to different values.
export interface Clash {
  field: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

// Merge the fields of `mine` into `theirs`; `base` has the values that the user saw. `body` has the fields to send.
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

// Compare as the service does: "" equals null, texts are trimmed, and lists are equal if their entries match.
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((entry, place) => entriesMatch(entry, other[place]));
  }
  return isEqual(normalize(one), normalize(other));
}

// Whether two entries have the same content. One without an id was made here: it may lack fields of the service.
function entriesMatch(one: unknown, other: unknown): boolean {
  if (!isEntry(one) || !isEntry(other)) return one === other;
  let part = entryContent(one);
  let whole = entryContent(other);
  if ("id" in one && !("id" in other)) [part, whole] = [whole, part];
  if ("id" in one && "id" in other && Object.keys(part).length !== Object.keys(whole).length) return false;
  return Object.entries(part).every(([name, value]) => isEqual(value, whole[name]));
}

function isEntry(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

function normalize(value: unknown): unknown {
  if (typeof value === "string") return value.trim() || null;
  return Array.isArray(value) && value.length === 0 ? null : value;
}

const ADDED_BY_SERVICE = new Set(["id", "latitude", "longitude", "geocodeStatus", "template"]);

// The fields of an entry without its id and what the service adds (the coordinates of an address).
function entryContent(entry: Fields): Fields {
  const own = Object.entries(entry).filter(([name]) => !ADDED_BY_SERVICE.has(name));
  return Object.fromEntries(own.map(([name, value]) => [name, normalize(value)]).filter(([, value]) => value != null));
}

// Apply my additions, changes and removals to their list. Returns the list, and whether there was a clash.
// Entries are matched by id, custom values by template, texts by themselves. If both sides changed an entry, theirs stays. If one side changed an entry that the other removed, the entry stays.
// It is a clash if something that I did is not in the result.
function mergeLists(base: unknown[], mine: unknown[], theirs: unknown[]): [unknown[], boolean] {
  const before = indexEntries(base);
  const wanted = indexEntries(withKnownIds(mine, [...base, ...theirs]));
  const now = indexEntries(theirs);
  const merged: unknown[] = [];
  let clashed = false;
  for (const [key, entry] of now) {
    if (!before.has(key)) {
      clashed ||= wanted.has(key) && !entriesMatch(wanted.get(key), entry);
      merged.push(entry);
    } else if (!wanted.has(key)) {
      const isUnchanged = entriesMatch(before.get(key), entry);
      clashed ||= !isUnchanged;
      if (!isUnchanged) merged.push(entry);
    } else if (entriesMatch(before.get(key), entry)) {
      merged.push(wanted.get(key));
    } else {
      clashed ||= !entriesMatch(before.get(key), wanted.get(key)) && !entriesMatch(wanted.get(key), entry);
      merged.push(entry);
    }
  }
  for (const [key, entry] of wanted) {
    if (now.has(key) || (isNew(entry) && theirs.some((known) => entriesMatch(entry, known)))) continue;
    // No clash where they removed what I changed: mine is sent, so there would be nothing left to choose.
    if (!before.has(key) || !entriesMatch(before.get(key), entry)) merged.push(entry);
  }
  return [merged, clashed];
}

function isNew(entry: unknown): boolean {
  return isEntry(entry) && !("id" in entry) && !("templateId" in entry);
}

// Replace each entry without an id by a known one with the same content, if there is one.
export function withKnownIds(entries: unknown[], known: unknown[]): unknown[] {
  const used = new Set(entries.filter(isEntry).map((entry) => entry["id"]));
  return entries.map((entry) => {
    if (!isNew(entry)) return entry;
    const match = known.filter(isEntry).find((each) => "id" in each && !used.has(each["id"]) && entriesMatch(entry, each));
    used.add(match?.["id"]);
    return match ?? entry;
  });
}

// Entries by their identity: the template of a custom value, the id, else the content.
function indexEntries(entries: unknown[]): Map<string, unknown> {
  return new Map(
    entries.map((entry) => {
      if (!isEntry(entry)) return [String(entry), entry];
      return [String(entry["templateId"] ?? entry["id"] ?? JSON.stringify(entryContent(entry))), entry];
    }),
  );
}
