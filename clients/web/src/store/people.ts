// What lists keep of each person in memory, and how lists are sorted and searched.
import { displayName, type NameSettings, type Records } from "contacts-client";
import { type SearchedField, SEARCHED_FIELDS } from "contacts-client/searched";
import { addInterval, type Day } from "../i18n/days.ts";
import { fold } from "./fold.ts";
import { numberTest, storedNumber } from "./numbers.ts";

export interface PersonRow {
  id: string;
  name: string; // as displayed, set by byName
  parts: NameParts;
  photo: string | null;
  groupIds: string[];
  lastContact: string | null;
  organization: string | null;
  jobTitle: string | null;
  town: string | null;
  toUserTypeId: string | null; // the type of the relationship to the user
  places: readonly Place[];
  createdAt: string;
  contactDue: Day | null; // when the contact reminder comes
  isFavourite: boolean;
  isQuiet: boolean;
  hasDied: boolean;
  isReachable: boolean; // by phone, e-mail or address
  lacks: { phone: boolean; email: boolean; address: boolean };
  format: string; // the settings with which name and sortKey were computed
  sortKey: string;
  search: string; // folded: all that a search looks into, names first
  namesEnd: number; // of the names in it
  isCut: boolean; // whether a text is longer than what a search in memory looks into
  phone: string | null; // the first number, as it is written
  email: string | null;
  digits: string; // of all phone numbers, for numberTest
  nameWords?: string[]; // of its names, once a search has asked for similar ones
}

// An address or a location: what a map shows of a person.
export interface Place {
  id: string; // of the entry
  at: readonly [latitude: number, longitude: number] | null;
  label: string;
  town: string | null;
  state: string | null; // of an address: pending, skipped, done or failed
}

type Person = Records["person"];
type NameParts = Pick<
  Person,
  "name" | "surname" | "middleName" | "secondLastName" | "nickname" | "prefix" | "suffix" | "displayNameOverride"
>;

export function toPersonRow(person: Person): PersonRow {
  const { name, surname, middleName, secondLastName, nickname, prefix, suffix, displayNameOverride } = person;
  // A displayed name of its own comes first, as search() ranks by the beginning.
  const names = fold([displayNameOverride ?? "", ...textsOf(person, SEARCHED_FIELDS.name), ...joinedNames(person)].join(" "));
  const words = textsOf(person, SEARCHED_FIELDS.words);
  return {
    id: person.id,
    name: "",
    parts: { name, surname, middleName, secondLastName, nickname, prefix, suffix, displayNameOverride },
    photo: person.photo,
    groupIds: person.groupIds,
    lastContact: person.lastContact,
    organization: person.organization,
    jobTitle: person.jobTitle,
    town: person.addresses.find(({ locality }) => locality)?.locality ?? null,
    toUserTypeId: person.relationshipToUserId,
    places: placesOf(person),
    createdAt: person.createdAt,
    contactDue: contactDue(person),
    isFavourite: person.favourite,
    isQuiet: person.quiet,
    hasDied: person.deathday !== null,
    isReachable: person.phoneNumbers.length + person.emails.length + person.addresses.length > 0,
    lacks: { phone: person.phoneNumbers.length === 0, email: person.emails.length === 0, address: person.addresses.length === 0 },
    format: "",
    sortKey: "",
    search: `${names} ${fold(words.map((text) => text.slice(0, MAX_SEARCHED)).join(" "))}`,
    namesEnd: names.length,
    isCut: words.some((text) => text.length > MAX_SEARCHED),
    phone: person.phoneNumbers[0]?.number ?? null,
    email: person.emails[0]?.email ?? null,
    digits: textsOf(person, SEARCHED_FIELDS.digits).map((number) => ` ${storedNumber(number)}`).join(""),
  };
}

const MAX_SEARCHED = 300; // characters of a text, as each row is kept in memory
const CJK = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\u{20000}-\u{3ffff}]/u;

// Chinese, Japanese and Korean names as they are written, without blanks, in both orders.
function joinedNames({ name, surname, middleName, phoneticName, phoneticSurname }: Person): string[] {
  const pairs = [[`${name}${middleName ?? ""}`, surname], [phoneticName, phoneticSurname]];
  return pairs.flatMap(([given, family]) => {
    if (!given || !CJK.test(`${given}${family ?? ""}`)) return [];
    return (family ? [`${family}${given}`, `${given}${family}`] : [given]).map((text) => text.replace(/\s+/g, ""));
  });
}

// The values of these fields, and of the keys of their entries that are searched. A list of the service may leave lists out.
function textsOf(person: Person, fields: readonly SearchedField[]): string[] {
  const values = person as unknown as Partial<Record<string, unknown>>;
  const texts: unknown[] = [];
  for (const [name, ...keys] of fields) {
    const value = values[name];
    if (keys.length === 0) texts.push(value);
    else for (const entry of (value ?? []) as Record<string, unknown>[]) for (const key of keys) texts.push(entry[key]);
  }
  return texts.filter((text) => text !== null && text !== undefined && text !== "").map(String);
}

const NO_PLACES: readonly Place[] = [];

function placesOf({ addresses, locations }: Person): readonly Place[] {
  if (addresses.length + locations.length === 0) return NO_PLACES;
  const of = (latitude?: number | null, longitude?: number | null) => (latitude == null || longitude == null ? null : ([latitude, longitude] as const));
  return [
    ...locations.map(({ id, label, type, latitude, longitude }) => ({ id, at: of(latitude, longitude), label: label || (type ?? ""), town: null, state: null })),
    ...addresses.map(({ id, streetLine1, postalCode, locality, country, latitude, longitude, geocodeStatus }) => ({
      id,
      at: of(latitude, longitude),
      label: [streetLine1, [postalCode, locality].filter(Boolean).join(" "), country].filter(Boolean).join(", "),
      town: locality,
      state: geocodeStatus,
    })),
  ];
}

function contactDue({ contactReminderEnabled, contactReminderInterval, contactReminderIntervalUnit, lastContact, createdAt }: Person): Day | null {
  if (!contactReminderEnabled) return null;
  return addInterval(lastContact ?? createdAt.slice(0, 10), contactReminderInterval ?? 1, contactReminderIntervalUnit ?? "MONTHS");
}

// Sorts rows in the account's order: by given name or, in the eastern order of names, by surname; by surname; as shown.
export function byName(rows: PersonRow[], settings: NameSettings & { nameSort?: string }): PersonRow[] {
  const { nameOrder, nameSort } = settings;
  const format = `${nameOrder} ${settings.nameDisplayFormat} ${nameSort}`;
  for (const row of rows) {
    if (row.format === format) continue; // computed before, and the row was not replaced since
    row.format = format;
    row.name = displayName(row.parts, settings);
    const { name, surname } = row.parts;
    const bySurname = nameSort === "SURNAME" || nameOrder === "EASTERN";
    const sorted = nameSort === "SHOWN" ? [row.name] : bySurname ? [surname || name, name] : [name, surname];
    row.sortKey = `${fold(sorted[0] ?? "")}\u0000${fold(sorted[1] ?? "")}\u0000${row.id}`;
  }
  return rows.sort((one, other) => (one.sortKey < other.sortKey ? -1 : 1));
}

// How many people each group has.
export function groupSizes(rows: readonly PersonRow[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { groupIds } of rows) for (const id of groupIds) sizes.set(id, (sizes.get(id) ?? 0) + 1);
  return sizes;
}

// The letter under which a row stands in the index.
export function letterOf(row: PersonRow): string {
  const letter = row.sortKey[0]?.toUpperCase() ?? "#";
  return /\p{L}/u.test(letter) ? letter : "#";
}

let last: { rows: PersonRow[]; query: string; found: PersonRow[] } = { rows: [], query: "", found: [] };

// Rows that contain every word of the query, those whose name begins with it first; of a number those who have it, however it
// is written. Rows are in the order of their names, so the search ends once `max` names begin with the words.
export function search(rows: PersonRow[], query: string, max = Infinity): PersonRow[] {
  const folded = fold(query);
  const words = folded.split(" ").filter(Boolean);
  if (words.length === 0) return rows;
  const hasNumber = numberTest(query);
  // A letter more finds some of those that were found.
  const isLonger = last.rows === rows && last.found.length > 0 && folded.startsWith(last.query) && !/\d/.test(folded);
  const numbers = words.map((word) => /^\d{3,}$/.test(word));
  const hasWords = ({ search, digits }: PersonRow) => words.every((word, at) => search.includes(word) || (numbers[at] && digits.includes(word)));
  const [first, inner] = [words[0]!, ` ${words[0]!}`];
  const found: PersonRow[] = [];
  const byRank: PersonRow[][] = [[], [], [], []];
  for (const row of isLonger ? last.found : rows) {
    if (!hasWords(row) && !hasNumber?.(row.digits)) continue;
    found.push(row);
    byRank[rankOf(row, first, inner)]!.push(row);
    if (byRank[0]!.length === max) return byRank[0]!;
  }
  last = { rows, query: folded, found };
  if (found.length === 0) return rows.filter((row) => words.every((word) => hasSimilarWord(row, word))).slice(0, max);
  return byRank.flat().slice(0, max);
}

// The shown name begins with the word, another one of the names, a word of the names (`inner`, with the blank before), another text.
function rankOf({ sortKey, search, namesEnd }: PersonRow, first: string, inner: string): number {
  if (sortKey.startsWith(first)) return 0;
  if (search.startsWith(first)) return 1;
  const at = search.indexOf(inner);
  return at >= 0 && at < namesEnd ? 2 : 3;
}

// Whether a part of the name differs from the word by one letter: added, left out, changed, or swapped with the next one.
function hasSimilarWord(row: PersonRow, word: string): boolean {
  if (word.length < 3) return false;
  row.nameWords ??= row.search.slice(0, row.namesEnd).split(" "); // computed once, as somebody who types goes on typing
  return row.nameWords.some((name) => isWithinOneEdit(name, word));
}

function isWithinOneEdit(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let [start, endOfOne, endOfOther] = [0, one.length, other.length];
  while (start < endOfOne && one[start] === other[start]) start++;
  while (endOfOne > start && endOfOther > start && one[endOfOne - 1] === other[endOfOther - 1]) (endOfOne--, endOfOther--);
  const [left, right] = [endOfOne - start, endOfOther - start]; // what differs
  if (left <= 1 && right <= 1) return true; // changed, added or left out
  return left === 2 && right === 2 && one[start] === other[start + 1] && one[start + 1] === other[start]; // swapped
}
