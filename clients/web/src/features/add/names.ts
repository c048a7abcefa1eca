// The people and groups that a line names, among thousands: by given name, nickname, surname, or several of them.
import { fold } from "../../store/fold.ts";

export interface NamedRow {
  id: string;
  name: string; // as displayed
  parts: { name: string; surname: string | null; middleName: string | null; nickname: string | null };
}

// `ids`: whom the name may mean. `end` is behind an `s` of the genitive, `nameEnd` before it.
export interface Mention {
  start: number;
  end: number;
  nameEnd: number;
  ids: string[];
}

interface Alias {
  text: string; // folded
  exact: string; // with its accents
  weight: number; // of two that are equally long the heavier one is meant: a surname alone is the lightest
}

const WORD = /[\p{L}\p{N}]+/gu;
const FIRST_WORD = /[\p{L}\p{N}]+/u;
const CJK = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/u;
const LETTER = /[\p{L}\p{N}]/u;

export class NameIndex {
  readonly #byWord = new Map<string, NamedRow[]>();
  readonly #unspaced: [alias: string, row: NamedRow][] = [];
  readonly #aliases = new Map<NamedRow, Alias[]>();
  #isSorted = true; // the unspaced, longest first

  add(rows: readonly NamedRow[]): void {
    for (const row of rows) {
      const { name, surname, nickname } = row.parts;
      const words = new Set<string>();
      for (const text of [name, surname, nickname, row.name]) {
        const word = text && FIRST_WORD.exec(fold(text))?.[0];
        if (word) words.add(word);
      }
      for (const word of words) {
        const known = this.#byWord.get(word);
        if (known) known.push(row);
        else this.#byWord.set(word, [row]);
      }
      if (!CJK.test(`${name}${surname ?? ""}`)) continue;
      for (const { text } of this.#aliasesOf(row)) if (CJK.test(text) && text.length > 1) this.#unspaced.push([text, row]);
    }
    this.#isSorted = this.#unspaced.length === 0;
  }

  // The names in a folded text. `isName` decides from the place of one whether it is meant as a name; `typed` is a part as typed.
  find(folded: string, genitive: RegExp, isName: (start: number, end: number) => boolean, typed: (start: number, end: number) => string): Mention[] {
    const found: Mention[] = this.#findUnspaced(folded);
    let end = 0;
    for (const { 0: word, index: start } of folded.matchAll(WORD)) {
      if (start < end || found.some((each) => each.start <= start && start < each.end)) continue;
      const rows = new Set([...(this.#byWord.get(word) ?? []), ...(word.endsWith("s") ? (this.#byWord.get(word.slice(0, -1)) ?? []) : [])]);
      const mention = this.#longest(rows, folded, start, genitive, typed);
      if (!mention || !isName(start, mention.nameEnd)) continue;
      found.push(mention);
      end = mention.end;
    }
    return found.sort((one, other) => one.start - other.start);
  }

  #longest(rows: Iterable<NamedRow>, folded: string, start: number, genitive: RegExp, typed: (start: number, end: number) => string): Mention | null {
    let best: { alias: Alias; end: number; found: [id: string, exact: string][] } | null = null;
    for (const row of rows) {
      for (const alias of this.#aliasesOf(row)) {
        if (!folded.startsWith(alias.text, start)) continue;
        const nameEnd = start + alias.text.length;
        const end = nameEnd + (genitive.exec(folded.slice(nameEnd))?.[0].length ?? 0);
        if (LETTER.test(folded[end] ?? " ")) continue;
        const isLonger = !best || alias.text.length > best.alias.text.length;
        const isEqual = best?.alias.text.length === alias.text.length;
        if (isLonger || (isEqual && alias.weight > best!.alias.weight)) best = { alias, end, found: [[row.id, alias.exact]] };
        else if (isEqual && alias.weight === best!.alias.weight) best!.found.push([row.id, alias.exact]);
      }
    }
    if (!best) return null;
    const nameEnd = start + best.alias.text.length;
    // Inês is not Inés where both are known, and ines may be both.
    const spelling = exactly(typed(start, nameEnd));
    const same = best.found.filter(([, exact]) => exact === spelling);
    const ids = new Set((same.length ? same : best.found).map(([id]) => id));
    return { start, end: best.end, nameEnd, ids: [...ids] };
  }

  // Without blanks the longest known name is meant.
  #findUnspaced(folded: string): Mention[] {
    if (!CJK.test(folded)) return [];
    const found: Mention[] = [];
    if (!this.#isSorted) this.#unspaced.sort(([one], [other]) => other.length - one.length);
    this.#isSorted = true;
    for (const [alias, { id }] of this.#unspaced) {
      for (let start = folded.indexOf(alias); start >= 0; start = folded.indexOf(alias, start + 1)) {
        const end = start + alias.length;
        const same = found.find((each) => each.start === start && each.end === end);
        if (same) same.ids = [...new Set([...same.ids, id])];
        else if (!found.some((each) => start < each.end && each.start < end)) found.push({ start, end, nameEnd: end, ids: [id] });
      }
    }
    return found;
  }

  #aliasesOf(row: NamedRow): Alias[] {
    const known = this.#aliases.get(row);
    if (known) return known;
    const { name, surname, middleName, nickname } = row.parts;
    const [first] = (surname ?? "").split(" ");
    const join = (...parts: (string | null | undefined)[]) => (parts.every(Boolean) ? parts.join(" ") : "");
    const isUnspaced = CJK.test(`${name}${surname ?? ""}`);
    const all: [string, number][] = [
      [row.name, 3],
      [join(name, surname), 3],
      [join(name, middleName, surname), 3],
      [join(name, first), 3],
      [join(nickname, surname), 3],
      [join(surname, name), 3],
      [isUnspaced && surname ? `${surname}${name}`.replaceAll(" ", "") : "", 3],
      [name, 2],
      [join(nickname), 2],
      [join(surname), 1],
    ];
    const aliases = all.flatMap(([text, weight]) => (text ? [{ text: fold(text), exact: exactly(text), weight }] : []));
    this.#aliases.set(row, aliases);
    return aliases;
  }
}

function exactly(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
