// What a line of text says: who, what, when, where. Pure and local. It makes nothing and decides nothing silently: what it did not
// understand is the note, and a name that several people have is a question (`Mention.ids`).
import type { DateFormat, Day } from "../../i18n/days.ts";
import type { Language } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import { bounded, dayReader, type DayMention, type DayReader, pastDay, toDay } from "./days.ts";
import { foldedText } from "./foldedText.ts";
import type { Mention, NameIndex } from "./names.ts";
import { alternatives, WORDS, type Words } from "./words.ts";

export type ContactKind = "MEETING" | "CALL" | "MESSAGE" | "EMAIL" | "GIFT" | "NOTE";
export type DateType = "BIRTHDAY" | "ANNIVERSARY" | "NAMEDAY" | "MEMORIAL";
export type Verb = "call" | "message" | "mail" | "open" | "share" | "log" | "make";
export type TokenKind = "touch" | "tie" | "date" | "place" | "accent";

// A part of the line as it was typed.
export interface Token {
  start: number;
  end: number;
  kind: TokenKind;
}

export interface NewName {
  name: string;
  surname: string;
}

export interface Person {
  ids: string[]; // whom the name may mean; none: somebody new
  text: string; // as typed
  newName: NewName | null;
}

export interface Reading {
  kind: "contact" | "person" | "details" | "date" | "relation" | "group" | "note";
  tokens: Token[];
  people: Person[];
  groupIds: string[];
  contactKind: ContactKind | null;
  title: string | null; // such as Tea
  where: string | null; // such as in Porto
  day: Day | null; // of what happened
  date: { type: DateType; day: Day | null; yearUnknown: boolean } | null;
  phones: string[];
  emails: string[];
  relation: { typeId: string } | null; // the first of the people is this of the second
  notes: string;
  verb: Verb | null; // what is to be done with the people, if the line says nothing else
}

export interface Context {
  language: Language;
  today: Day;
  dateFormat: DateFormat;
  names: NameIndex;
  groups: readonly { id: string; name: string }[];
  types: readonly { id: string; name: string; label: string }[]; // of relationships
}

interface Item {
  start: number;
  end: number;
  kind: TokenKind | null;
}

const EMAIL = /[^\s,;:<>()\u0001]+@[^\s,;:<>()@\u0001]+\.[\p{L}]{2,}/gu;
const PHONE = /(?:tel:)?\+?\(?\d[\d ()./-]{4,}\d/g;
const MIN_PHONE_DIGITS = 6;
// What stands before a number or an address and says what it is.
const LABEL = /(?<![\p{L}\p{N}])(?:tel|telefon|telephone|phone|mobile|mobil|handy|cell|movil|portable|number|nummer|numero|e-?mail|mail|correo|courriel|e-?post)[.:]*\s*(?=\u0001)|(?:電話番号|電話|携帯|番号|メール)[:\s]*(?=\u0001)/gu;
const SEPARATOR = /[,;:!?](?=\s|$)|\.(?=\s|$)|\s[-–—](?=\s)|[、。]/g;
const LETTER = /[\p{L}\p{N}]/u;
const MAX_NAME_WORDS = 5;
const MAX_NAME = 60;
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff]/u;

interface Grammar {
  kinds: [ContactKind, RegExp][];
  titles: RegExp;
  dates: [DateType, RegExp][];
  verbs: [Verb, RegExp][];
  relations: [name: string, RegExp][];
  joints: RegExp; // at the beginning of a text
  jointsAtEnd: RegExp;
  is: RegExp;
  lead: RegExp; // what stands before a name in small letters
  place: RegExp | null;
  person: RegExp;
  genitive: RegExp;
  days: DayReader;
}

const grammars = new Map<string, Grammar>();

function grammarOf(language: Language, format: DateFormat): Grammar {
  const key = `${language} ${format}`;
  const known = grammars.get(key);
  if (known) return known;
  const lists = language === "en" ? [WORDS.en] : [WORDS[language], WORDS.en];
  const all = (of: (words: Words) => string) => fold(lists.map(of).filter(Boolean).join("|"));
  const entries = <K extends string>(of: (words: Words) => Readonly<Record<K, string>>) =>
    (Object.keys(of(WORDS.en)) as K[]).map((name) => [name, bounded(all((words) => of(words)[name]))] as [K, RegExp]);
  const E = "(?![\\p{L}\\p{N}])";
  const joints = all((words) => words.joints).split("|");
  const [unspaced, spaced] = [joints.filter((word) => UNSPACED.test(word)), joints.filter((word) => !UNSPACED.test(word))];
  // An apostrophe ends a word by itself: d'Ana.
  const spacedPattern = spaced.map((word) => (/['’+&]$/.test(word) ? word : `${word}${E}`)).join("|");
  const joint = [unspaced.join("|"), spacedPattern].filter(Boolean).join("|");
  const leads = all((words) => [words.joints, words.titles, ...Object.values(words.kinds), ...Object.values(words.verbs), ...Object.values(words.dates), words.is].join("|"));
  const at = all((words) => words.at);
  const grammar: Grammar = {
    kinds: entries((words) => words.kinds),
    titles: bounded(all((words) => words.titles)),
    dates: entries((words) => words.dates),
    verbs: entries((words) => words.verbs),
    relations: Object.keys(WORDS.en.relations).map((name) => [name, bounded(all((words) => words.relations[name]!))]),
    joints: new RegExp(`^(?:[\\s,;:.!?、。–—-]|${joint})+`, "u"),
    jointsAtEnd: new RegExp(`(?:[\\s,;:.、。–—-]|${unspaced.join("|") || "(?!)"}|(?<![\\p{L}\\p{N}])(?:${alternatives(spaced.join("|"))}))+$`, "u"),
    is: bounded(all((words) => words.is)),
    lead: new RegExp(`(?:^|[,;:\\u0001、]|(?<![\\p{L}\\p{N}])(?:${alternatives(leads)}))\\s*$`, "u"),
    place: at ? new RegExp(`(?<![\\p{L}\\p{N}\\u0001])(?:${alternatives(at)})\\s+(?=[\\p{L}])`, "gu") : null,
    person: bounded(all((words) => words.person)),
    genitive: language === "de-DE" || language === "nb-NO" ? /^(?:['’]s|['’]|s)(?![\p{L}\p{N}])/u : /^['’]s(?![\p{L}\p{N}])/u,
    days: dayReader(language, format),
  };
  grammars.set(key, grammar);
  return grammar;
}

export function parse(text: string, context: Context): Reading {
  return new Parser(text, context).read();
}

class Parser {
  readonly #text: string;
  readonly #context: Context;
  readonly #grammar: Grammar;
  readonly #folded: string;
  readonly #at: readonly number[];
  #items: Item[] = [];
  #head = 0; // where what is understood ends, and the note begins

  constructor(text: string, context: Context) {
    this.#text = text;
    this.#context = context;
    this.#grammar = grammarOf(context.language, context.dateFormat);
    ({ folded: this.#folded, at: this.#at } = foldedText(text));
  }

  read(): Reading {
    const grammar = this.#grammar;
    const emails = this.#takeAll(EMAIL, "accent");
    let days = grammar.days.read(this.#masked(), this.#context.today);
    for (const { start, end } of days) this.#items.push({ start, end, kind: "date" });
    const phones = this.#takeAll(PHONE, "accent", (found) => found.replace(/\D/g, "").length >= MIN_PHONE_DIGITS);
    let groups = this.#findGroups();
    let mentions = this.#context.names.find(this.#masked(), grammar.genitive, (start, end) => this.#isName(start, end), (start, end) => this.#typed(start, end));
    for (const { start, end } of mentions) this.#items.push({ start, end, kind: "tie" });
    this.#head = this.#findHead();
    const inHead = <T extends { start: number }>(each: T) => each.start < this.#head;
    this.#items = this.#items.filter(inHead);
    [mentions, groups, days] = [mentions.filter(inHead), groups.filter(inHead), days.filter(inHead)];
    const reading: Reading = {
      kind: "note",
      tokens: [],
      people: [],
      groupIds: groups.map(({ id }) => id),
      contactKind: null,
      title: null,
      where: null,
      day: null,
      date: null,
      phones: phones.filter(inHead).map(({ text }) => text),
      emails: emails.filter(inHead).map(({ text }) => text),
      relation: null,
      notes: "",
      verb: null,
    };
    if (!this.#folded.trim()) return reading;
    reading.verb = mentions.length + groups.length > 0 ? this.#findVerb(days.length > 0) : null;
    const isNewPerson = this.#takeFirst(grammar.person, null, true) !== null;
    if (!isNewPerson) this.#takeNoise();
    if (!isNewPerson && this.#readRelation(reading, mentions)) return this.#end(reading);
    if (this.#readDate(reading, days) || reading.phones.length + reading.emails.length > 0 || isNewPerson) {
      if (this.#readWhom(reading, mentions, isNewPerson)) return this.#end(reading);
    }
    const isContact = this.#readContact(reading, days);
    reading.people = mentions.map((mention) => this.#known(mention));
    if (isContact) {
      reading.kind = "contact";
      if (reading.contactKind === "NOTE" || reading.people.length + groups.length > 0) reading.notes = this.#rest().join(" ");
      else {
        const newName = this.#readNewName();
        if (newName) reading.people = [newName];
        reading.notes = this.#rest().join(" ");
      }
      return this.#end(reading);
    }
    if (groups.length > 0 && mentions.length > 0 && this.#rest().length === 0) {
      reading.kind = "group";
    } else if (mentions.length + groups.length > 0) {
      reading.kind = "contact";
      reading.contactKind = "NOTE";
      reading.day = days[0] ? pastDay(days[0], this.#context.today) : null;
      reading.notes = this.#rest().length ? this.#text.trim() : "";
    } else {
      const newName = days.length === 0 ? toName(this.#text.trim()) : null;
      if (newName && (/^\p{Lu}/u.test(newName.text) || UNSPACED.test(newName.text))) {
        reading.kind = "person";
        reading.people = [newName];
      } else {
        reading.contactKind = "NOTE";
        reading.day = days[0] ? pastDay(days[0], this.#context.today) : null;
        reading.notes = this.#text.trim();
      }
    }
    return this.#end(reading);
  }

  // Recognition.

  #masked(): string {
    let masked = this.#folded;
    for (const { start, end } of this.#items) masked = masked.slice(0, start) + "\u0001".repeat(end - start) + masked.slice(end);
    return masked;
  }

  #take(start: number, end: number, kind: TokenKind | null): void {
    this.#items.push({ start, end, kind });
  }

  #takeAll(pattern: RegExp, kind: TokenKind, isWanted: (found: string) => boolean = () => true): { start: number; text: string }[] {
    const found: { start: number; text: string }[] = [];
    for (const { 0: match, index } of [...this.#masked().matchAll(pattern)]) {
      if (!isWanted(match)) continue;
      this.#take(index, index + match.length, kind);
      found.push({ start: index, text: this.#typed(index, index + match.length).replace(/^tel:/i, "").trim() });
    }
    return found;
  }

  // The first match before the note; `isAtStart`: before anything else.
  #takeFirst(pattern: RegExp, kind: TokenKind | null, isAtStart = false): Item | null {
    const masked = this.#masked().slice(0, this.#head);
    pattern.lastIndex = 0;
    const match = pattern.exec(masked);
    if (!match || (isAtStart && masked.slice(0, match.index).replace(this.#grammar.joints, "").trim() && !this.#isVerb(masked.slice(0, match.index)))) return null;
    const item = { start: match.index, end: match.index + match[0].length, kind };
    this.#items.push(item);
    return item;
  }

  #isVerb(text: string): boolean {
    return this.#grammar.verbs.some(([verb, pattern]) => (verb === "make" || verb === "log") && text.trim().replace(pattern, "").trim() === "");
  }

  // "Log" and "add" at the beginning say nothing more.
  #takeNoise(): void {
    const masked = this.#masked();
    for (const [verb, pattern] of this.#grammar.verbs) {
      if (verb !== "log" && verb !== "make") continue;
      pattern.lastIndex = 0;
      const match = pattern.exec(masked);
      const isAtEdge = match && (!masked.slice(0, match.index).trim() || (UNSPACED.test(match[0]) && !masked.slice(match.index + match[0].length).trim()));
      if (match && isAtEdge) this.#take(match.index, match.index + match[0].length, null);
    }
  }

  #findGroups(): { start: number; id: string }[] {
    const found: { start: number; id: string }[] = [];
    const named = this.#context.groups.map(({ id, name }) => ({ id, name: fold(name) })).filter(({ name }) => name.length > 1);
    for (const { id, name } of named.sort((one, other) => other.name.length - one.name.length)) {
      const masked = this.#masked();
      const start = masked.indexOf(name);
      if (start < 0) continue;
      const isWord = UNSPACED.test(name) || !(LETTER.test(masked[start - 1] ?? " ") || LETTER.test(masked[start + name.length] ?? " "));
      if (!isWord || (!this.#isCapital(start) && !this.#isLed(start))) continue;
      this.#take(start, start + name.length, "tie");
      found.push({ start, id });
    }
    return found;
  }

  // In small letters only where a name is expected: else Will is in every line.
  #isName(start: number, nameEnd: number): boolean {
    const masked = this.#masked();
    const before = masked.slice(0, start);
    const isAlone = !masked.slice(start, nameEnd).includes(" ");
    if (!before.trim() && isAlone && this.#startsKind(start, nameEnd)) return false;
    return this.#isCapital(start) || !isAlone || this.#isLed(start) || /^['’]s/.test(masked.slice(nameEnd));
  }

  // A kind, such as Tea, which is a name as well: with a name behind it, it is the kind.
  #startsKind(start: number, end: number): boolean {
    const word = this.#folded.slice(start, end);
    const { kinds, titles, joints } = this.#grammar;
    const isKind = [titles, ...kinds.map(([, pattern]) => pattern)].some((pattern) => word.replace(pattern, "") === "");
    return isKind && joints.test(this.#folded.slice(end));
  }

  #isCapital(start: number): boolean {
    return /[\p{Lu}\p{Lo}\p{Lt}]/u.test(this.#text[this.#at[start]!] ?? "");
  }

  #isLed(start: number): boolean {
    return this.#grammar.lead.test(this.#masked().slice(0, start));
  }

  // The note begins behind the first comma, colon or stop that does not stand in a list of what is understood.
  #findHead(): number {
    const masked = this.#masked();
    const { kinds, titles, dates } = this.#grammar;
    const happened = this.#items.some(({ kind }) => kind === "accent") ? [] : [titles, ...kinds.map(([, pattern]) => pattern)];
    const patterns = [...happened, ...dates.map(([, pattern]) => pattern)];
    const isUnderstood = (place: number) => {
      const rest = masked.slice(place);
      return rest.startsWith("\u0001") || patterns.some((pattern) => rest.search(pattern) === 0);
    };
    const skip = (place: number, pattern: RegExp) => place + (pattern.exec(masked.slice(place))?.[0].length ?? 0);
    for (const { 0: separator, index } of masked.matchAll(SEPARATOR)) {
      if (separator === "." && /\b\p{L}{1,3}$/u.test(masked.slice(0, index))) continue; // Dr. Ana
      const next = skip(index + separator.length, this.#grammar.joints);
      if (next >= masked.length) continue;
      if (!isUnderstood(next)) return index;
      const end = this.#items.find((item) => item.start === next)?.end ?? masked.length;
      const behind = skip(end, /^\s*/);
      const isListed = behind >= masked.length || /^[,;:.、。!?]/.test(masked.slice(behind)) || skip(behind, this.#grammar.joints) > behind || masked[behind] === "\u0001";
      if (!isListed) return index;
    }
    return masked.length;
  }

  // What is to be done, if the line has only this and names: call jane.
  #findVerb(hasDay: boolean): Verb | null {
    if (hasDay) return null;
    const rest = this.#masked().replaceAll("\u0001", " ").replace(/\s+/g, " ").trim();
    for (const [verb, pattern] of this.#grammar.verbs) {
      const left = rest.replace(pattern, " ");
      if (left !== rest && !left.replace(this.#grammar.joints, "").trim()) return verb;
    }
    return null;
  }

  // "Lotte is Ana's sister", "Ana's sister is Lotte", "Lotte is the sister of Ana".
  #readRelation(reading: Reading, mentions: Mention[]): boolean {
    if (mentions.length === 0 || mentions.length > 2 || reading.phones.length + reading.emails.length > 0) return false;
    const masked = this.#masked().slice(0, this.#head);
    const found = this.#findType(masked);
    if (!found) return false;
    this.#grammar.is.lastIndex = 0;
    const before = this.#items.length;
    const isAt = [...masked.matchAll(this.#grammar.is)].find(({ index }) => index < found.start || index >= found.end);
    if (!isAt) return false;
    this.#take(found.start, found.end, "touch");
    this.#take(isAt.index, isAt.index + isAt[0].length, null);
    let people = mentions.map((mention) => ({ start: mention.start, person: this.#known(mention) }));
    if (people.length === 1) {
      const [range, ...others] = this.#restRanges();
      const newName = range && others.length === 0 ? toName(this.#typed(...range)) : null;
      if (newName) this.#take(...range!, "tie");
      if (newName) people = [...people, { start: range![0], person: newName }].sort((one, other) => one.start - other.start);
    }
    if (people.length !== 2 || this.#rest().length > 0) {
      this.#items.length = before;
      return false;
    }
    // Before "is": who has the relation; behind it: who that is.
    const isReversed = found.start < isAt.index && people[0]!.start < found.start;
    reading.kind = "relation";
    reading.relation = { typeId: found.id };
    reading.people = (isReversed ? people.reverse() : people).map(({ person }) => person);
    return true;
  }

  // The account's own labels go before the words of the languages.
  #findType(masked: string): { id: string; start: number; end: number } | null {
    const find = (id: string, pattern: RegExp) => {
      pattern.lastIndex = 0;
      const match = pattern.exec(masked);
      return match && { id, start: match.index, end: match.index + match[0].length };
    };
    const { types } = this.#context;
    const labelled = types.flatMap(({ id, label }) => label.split("/").map((part) => [id, fold(part)] as const)).filter(([, part]) => part.length > 1 || UNSPACED.test(part));
    for (const [id, part] of labelled.sort(([, one], [, other]) => other.length - one.length)) {
      const found = find(id, bounded(part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
      if (found) return found;
    }
    const known = this.#grammar.relations.flatMap(([name, pattern]) => {
      const type = types.find((each) => each.name === name);
      const found = type && find(type.id, pattern);
      return found ? [found] : [];
    });
    return known.sort((one, other) => other.end - other.start - (one.end - one.start))[0] ?? null;
  }

  // A birthday or another day that comes each year.
  #readDate(reading: Reading, days: DayMention[]): boolean {
    for (const [type, pattern] of [...this.#grammar.dates].reverse()) {
      if (!this.#takeFirst(pattern, "date")) continue;
      const day = days.find(({ isRelative }) => !isRelative);
      reading.date = { type, day: day ? toDay(day.year ?? 1604, day.month, day.date) : null, yearUnknown: day?.year === null };
      return true;
    }
    return false;
  }

  // Whose number or day it is: somebody known, somebody new, or (nobody named) the person on the screen.
  #readWhom(reading: Reading, mentions: Mention[], isNewPerson: boolean): boolean {
    const known = new Map(mentions.map((mention) => [mention.start, mention]));
    const all = this.#items;
    this.#items = all.filter(({ start }) => !known.has(start)); // names are read together with what stands beside them
    for (const { 0: label, index } of [...this.#masked().matchAll(LABEL)]) this.#take(index, index + label.length, null);
    const ranges = this.#restRanges();
    const first = ranges.find(([start, end]) => mentions.some((mention) => start < mention.end && mention.start < end)) ?? ranges[0];
    const others = ranges.filter((range) => range !== first);
    const isWhole = (mention: Mention) => first && mention.start <= first[0] && first[1] <= mention.end;
    const whole = isNewPerson ? undefined : mentions.find(isWhole);
    const newName = first && !whole ? toName(this.#typed(...first)) : null;
    if (whole) {
      this.#take(whole.start, whole.end, "tie");
      reading.people = [this.#known(whole)];
    } else if (newName) {
      this.#take(...first!, "tie");
      reading.people = [newName];
    } else if (first) {
      this.#items = all;
      if (mentions.length === 0) return false;
      reading.people = [this.#known(mentions[0]!)];
      reading.kind = reading.date ? "date" : "details";
      reading.notes = this.#text.trim();
      return true;
    }
    reading.kind = newName || (isNewPerson && !whole) ? "person" : reading.date ? "date" : "details";
    reading.notes = [...others.map((range) => this.#typed(...range)), this.#tail()].filter(Boolean).join(" ");
    return true;
  }

  #readContact(reading: Reading, days: DayMention[]): boolean {
    const masked = this.#masked().slice(0, this.#head);
    const kinds = this.#grammar.kinds.flatMap(([kind, pattern]) => {
      pattern.lastIndex = 0;
      const match = pattern.exec(masked);
      return match ? [{ kind, start: match.index, end: match.index + match[0].length }] : [];
    });
    kinds.sort((one, other) => one.start - other.start || other.end - one.end);
    const [first] = kinds;
    if (first) this.#take(first.start, first.end, "touch");
    const title = this.#takeFirst(this.#grammar.titles, "touch");
    if (!first && !title) return false;
    reading.contactKind = first?.kind ?? "MEETING";
    if (title && reading.contactKind === "MEETING") reading.title = capitalised(this.#typed(title.start, title.end));
    reading.day = days[0] ? pastDay(days[0], this.#context.today) : null;
    if (days[0]) this.#items = this.#items.filter(({ start, kind }) => kind !== "date" || start === days[0]!.start);
    reading.where = reading.contactKind === "NOTE" ? null : this.#readPlace();
    return true;
  }

  // A preposition of place and words with capitals behind it.
  #readPlace(): string | null {
    const masked = this.#masked().slice(0, this.#head);
    if (!this.#grammar.place) return null;
    for (const { 0: match, index } of masked.matchAll(this.#grammar.place)) {
      const behind = index + match.length;
      const words = /^(?:(?:the|dem|der|la|le|el|les|los|las)\s+)?[\p{L}][\p{L}\p{N}'’-]*(?:\s+[\p{L}][\p{L}\p{N}'’-]*){0,2}/u.exec(masked.slice(behind))?.[0];
      if (!words) continue;
      let end = behind;
      for (const { 0: word, index: at } of words.matchAll(/\S+/gu)) {
        const isArticle = at === 0 && /^(?:the|dem|der|la|le|el|les|los|las)$/.test(word);
        if (!isArticle && !this.#isCapital(behind + at)) break;
        if (!isArticle) end = behind + at + word.length;
      }
      if (end === behind) continue;
      this.#take(index, end, "place");
      return this.#typed(index, end).trim();
    }
    return null;
  }

  // Somebody who is not known yet, right behind what happened: Met Zora yesterday.
  #readNewName(): Person | null {
    const [range] = this.#restRanges();
    if (!range) return null;
    const text = /^\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*){0,2}/u.exec(this.#typed(...range))?.[0];
    if (!text || range[0] > this.#head) return null;
    const newName = toName(text);
    if (newName) this.#take(range[0], range[0] + fold(text).length, "tie");
    return newName;
  }

  // What is left.

  // The parts of the head that were not understood, without the words that only join what was.
  #restRanges(): [start: number, end: number][] {
    const masked = this.#masked().slice(0, this.#head);
    const ranges: [number, number][] = [];
    for (const { 0: part, index } of masked.matchAll(/[^\u0001]+/g)) {
      const start = index + (this.#grammar.joints.exec(part)?.[0].length ?? 0);
      const end = index + part.length - (this.#grammar.jointsAtEnd.exec(part)?.[0].length ?? 0);
      if (start < end && LETTER.test(masked.slice(start, end))) ranges.push([start, end]);
    }
    return ranges;
  }

  // The same as typed, and the note behind it. A part keeps the words before it: "at the station".
  #rest(): string[] {
    const masked = this.#masked().slice(0, this.#head);
    const parts = this.#restRanges().map(([start, end]) => {
      const from = masked.lastIndexOf("\u0001", start) + 1;
      return this.#typed(from, end).replace(/^[\s,;:.!?、。–—-]+/, "").trim();
    });
    return [...parts, this.#tail()].filter(Boolean);
  }

  #tail(): string {
    return this.#typed(this.#head, this.#folded.length).replace(/^[\s,;:.!?、。–—-]+/, "").trim();
  }

  #typed(start: number, end: number): string {
    return this.#text.slice(this.#at[start], this.#at[end]);
  }

  #known({ start, nameEnd, ids }: Mention): Person {
    return { ids, text: this.#typed(start, nameEnd), newName: null };
  }

  #end(reading: Reading): Reading {
    const shown = this.#items.filter((item): item is Item & { kind: TokenKind } => item.kind !== null).sort((one, other) => one.start - other.start);
    for (const { start, end, kind } of shown) {
      if (reading.tokens.length && this.#at[start]! < reading.tokens.at(-1)!.end) continue;
      reading.tokens.push({ start: this.#at[start]!, end: this.#at[end]!, kind });
    }
    return reading;
  }
}

// A name, if the text looks like one: of few words, without digits.
function toName(text: string): Person | null {
  const plain = text.replace(/^[\s"'“„«]+|[\s"'”“»,.;:]+$/g, "").replace(/['’]s$/, "");
  const words = plain.split(/\s+/);
  if (!plain || words.length > MAX_NAME_WORDS || plain.length > MAX_NAME || !/^[\p{L}\p{M}\s.'’·・-]+$/u.test(plain)) return null;
  // Chinese, Japanese and Korean names begin with the surname.
  const [first, ...rest] = words as [string, ...string[]];
  const newName = UNSPACED.test(plain) && rest.length ? { name: rest.join(" "), surname: first } : { name: first, surname: rest.join(" ") };
  return { ids: [], text: plain, newName };
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
