// Days in a line: in words and in digits, of the language and of the account's order of dates.
import { addDays, addMonths, type DateFormat, type Day } from "../../i18n/days.ts";
import type { Language } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import { alternatives, WORDS } from "./words.ts";

export interface DayMention {
  start: number;
  end: number;
  year: number | null;
  month: number;
  date: number;
  isRelative: boolean; // such as yesterday: no birthday is said so
}

const B = "(?<![\\p{L}\\p{N}])";
const E = "(?![\\p{L}\\p{N}])";

export interface DayReader {
  read: (folded: string, today: Day) => DayMention[];
}

// Made once for a language, as the names of months come from the browser.
export function dayReader(language: Language, format: DateFormat): DayReader {
  const months = new Map<string, number>();
  const weekdays = new Map<string, number>();
  for (const tag of new Set([language, "en"])) {
    for (const style of ["long", "short"] as const) {
      for (const [options, count] of [[{ month: style }, 12], [{ month: style, day: "numeric" }, 12]] as const) {
        const names = new Intl.DateTimeFormat(tag, { timeZone: "UTC", ...options });
        for (let month = 0; month < count; month++) {
          const part = names.formatToParts(new Date(Date.UTC(2024, month, 1))).find(({ type }) => type === "month")!.value;
          const name = fold(part).replace(/\.$/, "");
          if (/^\p{L}{3,}$/u.test(name)) months.set(name, month + 1);
        }
      }
    }
    const names = new Intl.DateTimeFormat(tag, { timeZone: "UTC", weekday: "long" });
    for (let day = 0; day < 7; day++) weekdays.set(fold(names.format(new Date(Date.UTC(2024, 0, 7 + day)))), day); // from Sunday
  }
  if (language === "de-DE") months.set("marz", 3).set("sept", 9).set("janner", 1);
  months.set("sept", 9);
  const byLength = (names: Iterable<string>) => [...names].sort((one, other) => other.length - one.length).join("|");
  const M = `(${byLength(months.keys())})`;
  const lists = [...new Set([language, "en" as const])].map((each) => WORDS[each]);
  const before = `(?:${B}(${lists.map(({ before }) => alternatives(before)).join("|")})\\s*)?`;
  const last = new RegExp(`^(?:${lists.map(({ last }) => alternatives(last)).join("|")})$`, "u");
  const counts = lists.map(({ numbers }) => numbers.split("|").map((each) => new RegExp(`^(?:${each})$`, "u")));
  const number = `(\\d{1,3}|${lists.map(({ numbers }) => alternatives(numbers)).join("|")})`;
  const inOrder = (one: string, other: string) => (format === "MDY" ? [Number(one), Number(other)] : [Number(other), Number(one)]) as [number, number];
  const ofYear = (digits: string | undefined, today: Day) => {
    if (!digits) return null;
    if (digits.length > 2) return Number(digits);
    const century = Number(today.slice(0, 2)) * 100;
    return Number(digits) + (Number(digits) > Number(today.slice(2, 4)) ? century - 100 : century);
  };
  type Found = { year: number | null; month: number; date: number } | Day | null;
  const patterns: [RegExp, (groups: (string | undefined)[], today: Day) => Found][] = [
    [/(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)/gu, ([, y, m, d]) => ({ year: Number(y), month: Number(m), date: Number(d) })],
    [/(?:(\d{4})年)?(\d{1,2})月(\d{1,2})日/gu, ([, y, m, d]) => ({ year: y ? Number(y) : null, month: Number(m), date: Number(d) })],
    [
      new RegExp(`${before}(?<![\\d.])(\\d{1,2})(?:\\.|st|nd|rd|th|er|\\u00ba|o)?\\s*(?:of\\s+|de\\s+)?${M}${E}\\.?(?:,?\\s*(?:del?\\s+)?((?:19|20)\\d\\d)(?!\\d))?`, "gu"),
      ([, , d, m, y]) => ({ year: y ? Number(y) : null, month: months.get(m!)!, date: Number(d) }),
    ],
    [
      new RegExp(`${before}${B}${M}\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?(?![\\d:])(?:,?\\s+((?:19|20)\\d\\d)(?!\\d))?`, "gu"),
      ([, , m, d, y]) => ({ year: y ? Number(y) : null, month: months.get(m!)!, date: Number(d) }),
    ],
    [
      new RegExp(`${before}(?<![\\d./-])(\\d{1,2})\\.\\s?(\\d{1,2})\\.(?:\\s?(\\d{4}|\\d{2})(?!\\d))?(?!\\d)`, "gu"),
      ([, , d, m, y], today) => ({ year: ofYear(y, today), month: Number(m), date: Number(d) }),
    ],
    [
      new RegExp(`${before}(?<![\\d./-])(\\d{1,2})([./-])(\\d{1,2})\\3(\\d{4}|\\d{2})(?![\\d./-])`, "gu"),
      ([, , one, , other, y], today) => {
        const [month, date] = inOrder(one!, other!);
        return { year: ofYear(y, today), month, date };
      },
    ],
    [
      new RegExp(`${before}(?<![\\d./-])(\\d{1,2})/(\\d{1,2})(?![\\d./-])`, "gu"),
      ([, , one, other]) => {
        const [month, date] = inOrder(one!, other!);
        return { year: null, month, date };
      },
    ],
    ...lists.flatMap(({ ago }) =>
      ago.map(fold).map(
        (text, unit) =>
          [
            new RegExp(`${boundary(text[0]!, B)}${text.replace("_", number)}${boundary(text.at(-1)!, E)}`, "gu"),
            ([, counted]: (string | undefined)[], today: Day) => {
              const word = counts.map((list) => list.findIndex((each) => each.test(counted!))).find((at) => at >= 0);
              const count = /^\d/.test(counted!) ? Number(counted) : (word ?? 0) + 1;
              return unit < 2 ? addDays(today, -count * (unit === 1 ? 7 : 1)) : addMonths(today, -count * (unit === 3 ? 12 : 1));
            },
          ] as [RegExp, (groups: (string | undefined)[], today: Day) => Found],
      ),
    ),
    ...lists.flatMap(({ days }) =>
      Object.entries(days)
        .sort(([one], [other]) => Number(one) - Number(other))
        .map(([offset, words]) => [bounded(words), (_: unknown, today: Day) => addDays(today, Number(offset))] as [RegExp, (groups: (string | undefined)[], today: Day) => Found]),
    ),
    [
      new RegExp(`${before}${language === "ja-JP" ? "" : B}(${byLength(weekdays.keys())})${language === "ja-JP" ? "" : E}(\\s+(?:${lists.map((each) => alternatives(each.last)).join("|")})${E})?`, "gu"),
      ([, lead, name, behind], today) => {
        const wanted = weekdays.get(name!)!;
        const now = new Date(`${today}T00:00:00Z`).getUTCDay();
        const back = (now - wanted + 7) % 7;
        return addDays(today, -(back === 0 && (behind || (lead && last.test(lead))) ? 7 : back));
      },
    ],
  ];
  return {
    read: (text, today) => {
      const found: DayMention[] = [];
      let folded = text;
      for (const [pattern, toDay] of patterns) {
        for (const match of [...folded.matchAll(pattern)]) {
          const day = toDay(match, today);
          const parts = typeof day === "string" ? toParts(day) : day;
          if (!parts || !isDay(parts)) continue;
          const end = match.index + match[0].length;
          found.push({ start: match.index, end, isRelative: typeof day === "string", ...parts });
          folded = folded.slice(0, match.index) + "\u0001".repeat(match[0].length) + folded.slice(end);
        }
      }
      return found.sort((one, other) => one.start - other.start);
    },
  };
}

// Whole words, but in Japanese, which has no blanks.
export function bounded(words: string, flags = "gu"): RegExp {
  const all = fold(words).split("|").filter(Boolean).sort((one, other) => other.length - one.length);
  const [spaced, unspaced] = [all.filter((word) => !UNSPACED.test(word)), all.filter((word) => UNSPACED.test(word))];
  const parts = [spaced.length ? `${B}(?:${spaced.join("|")})${E}` : "", unspaced.join("|")].filter(Boolean);
  return new RegExp(parts.join("|") || "(?!)", flags);
}

const UNSPACED = /[\u3005\u3040-\u30ff\u3400-\u9fff]/u;

function boundary(letter: string, edge: string): string {
  return UNSPACED.test(letter) || letter === "_" ? "" : edge;
}

function toParts(day: Day): { year: number; month: number; date: number } {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number];
  return { year, month, date };
}

function isDay({ year, month, date }: { year: number | null; month: number; date: number }): boolean {
  return month >= 1 && month <= 12 && date >= 1 && date <= new Date(Date.UTC(year ?? 2024, month, 0)).getUTCDate();
}

export function toDay(year: number, month: number, date: number): Day {
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(date).padStart(2, "0")}`;
}

// The day of something that happened: without a year the last one that has been.
export function pastDay({ year, month, date }: DayMention, today: Day): Day {
  if (year !== null) return toDay(year, month, date);
  for (let back = 0; ; back++) {
    const candidate = Number(today.slice(0, 4)) - back;
    if (isDay({ year: candidate, month, date }) && toDay(candidate, month, date) <= today) return toDay(candidate, month, date);
  }
}
