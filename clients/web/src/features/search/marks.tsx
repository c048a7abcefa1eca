// Where the words of a search stand in a text: whole, or as an excerpt around the first place.
import { foldedText } from "../add/foldedText.ts";

export interface Part {
  text: string;
  isMarked: boolean;
}

export const MAX_EXCERPT = 120; // characters
const BEFORE = 40; // of them at most before the first place

type Range = [start: number, end: number];

// The places of the words in the text as it is written, those at the beginning of a word first.
function rangesOf(text: string, words: readonly string[]): Range[] {
  const { folded, at } = foldedText(text);
  const ranges: Range[] = [];
  for (const word of words) {
    const inside: Range[] = [];
    const starts: Range[] = [];
    for (let start = folded.indexOf(word); start >= 0; start = folded.indexOf(word, start + word.length)) {
      const range: Range = [at[start]!, at[start + word.length]!];
      (/[\p{L}\p{N}]/u.test(folded[start - 1] ?? " ") ? inside : starts).push(range);
    }
    ranges.push(...(starts.length ? starts : inside));
  }
  ranges.sort(([one], [other]) => one - other);
  const merged: Range[] = [];
  for (const [start, end] of ranges) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

export function marked(text: string, words: readonly string[]): Part[] {
  return toParts(text, rangesOf(text, words), 0, text.length);
}

// At most MAX_EXCERPT characters, cut between words where there are blanks.
export function excerpt(text: string, words: readonly string[]): Part[] {
  const plain = text.replace(/\s+/g, " ").trim();
  const ranges = rangesOf(plain, words);
  if (plain.length <= MAX_EXCERPT) return toParts(plain, ranges, 0, plain.length);
  const [first] = ranges[0] ?? [0, 0];
  let start = first > BEFORE ? first - BEFORE : 0;
  if (start > 0) {
    const blank = plain.indexOf(" ", start);
    start = blank >= 0 && blank < first ? blank + 1 : safe(plain, start);
  }
  let end = Math.min(plain.length, start + MAX_EXCERPT - 2);
  if (end < plain.length) {
    const blank = plain.lastIndexOf(" ", end);
    end = blank > Math.max(start, ranges[0]?.[1] ?? 0) ? blank : safe(plain, end);
  }
  const inside = ranges.flatMap(([from, to]): Range[] => (from < end && to > start ? [[Math.max(from, start), Math.min(to, end)]] : []));
  const parts = toParts(plain, inside, start, end);
  return [...(start > 0 ? [{ text: "…", isMarked: false }] : []), ...parts, ...(end < plain.length ? [{ text: "…", isMarked: false }] : [])];
}

// Never between the two halves of one sign.
function safe(text: string, place: number): number {
  return /[\udc00-\udfff]/.test(text[place] ?? "") ? place - 1 : place;
}

function toParts(text: string, ranges: readonly Range[], start: number, end: number): Part[] {
  const parts: Part[] = [];
  let at = start;
  for (const [from, to] of ranges) {
    if (from > at) parts.push({ text: text.slice(at, from), isMarked: false });
    parts.push({ text: text.slice(from, to), isMarked: true });
    at = to;
  }
  if (at < end) parts.push({ text: text.slice(at, end), isMarked: false });
  return parts;
}

export function Marked({ parts }: { parts: readonly Part[] }) {
  return <>{parts.map(({ text, isMarked }, index) => (isMarked ? <mark key={index}>{text}</mark> : text))}</>;
}
