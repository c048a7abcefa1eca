// Texts in the language of the account. A text is its English form in the code, `t("Save")`; the catalogues of the other
// languages are in src/texts/<language>/<feature>.json, and tests/web/test_texts.py compares them with the code.
import { signal } from "@preact/signals";

type Catalogue = Record<string, string | string[]>;
type Values = Record<string, string | number>;

export const LANGUAGES = {
  en: "English",
  "es-ES": "Español",
  "ja-JP": "日本語",
  "nb-NO": "Norsk bokmål",
  "de-DE": "Deutsch",
  "fr-FR": "Français",
} as const;
export type Language = keyof typeof LANGUAGES;

type Loader = () => Promise<{ default: Catalogue }>;

// Of each language what the first page shows, and the rest.
const LOADERS: Partial<Record<Language, readonly [core: Loader, rest: Loader]>> = {
  "es-ES": [() => import("./languages/es-ES.ts"), () => import("./more/es-ES.ts")],
  "ja-JP": [() => import("./languages/ja-JP.ts"), () => import("./more/ja-JP.ts")],
  "nb-NO": [() => import("./languages/nb-NO.ts"), () => import("./more/nb-NO.ts")],
  "de-DE": [() => import("./languages/de-DE.ts"), () => import("./more/de-DE.ts")],
  "fr-FR": [() => import("./languages/fr-FR.ts"), () => import("./more/fr-FR.ts")],
};

export const language = signal<Language>("en");
let catalogue: Catalogue = {};
let plurals = new Intl.PluralRules("en");

let wanted: Language = "en";
let wantsAll = false; // a page other than the first one was opened

// Loads a language. Views that show texts are rendered again, since they read the signal through `t`.
export async function setLanguage(chosen: Language): Promise<void> {
  if (chosen === wanted && chosen === language.value && (chosen === "en" || Object.keys(catalogue).length)) return;
  wanted = chosen;
  await load();
  plurals = new Intl.PluralRules(wanted);
  language.value = wanted;
  document.documentElement.lang = wanted;
}

// Loads the texts of all other pages, for what is loaded later than the list of people.
export async function loadAllTexts(): Promise<void> {
  if (wantsAll) return;
  wantsAll = true;
  try {
    await load();
  } catch (error) {
    wantsAll = false;
    throw error;
  }
}

async function load(): Promise<void> {
  const [chosen, count] = [wanted, wantsAll ? 2 : 1];
  const parts = await Promise.all((LOADERS[chosen] ?? []).slice(0, count).map((loader) => loader()));
  if (chosen !== wanted || (wantsAll && count === 1)) return load(); // another language, or more of it, was asked for meanwhile
  catalogue = Object.assign({}, ...parts.map(({ default: part }) => part));
}

// The language of the browser that is nearest to one of ours.
export function preferredLanguage(): Language {
  const known = Object.keys(LANGUAGES) as Language[];
  for (const wanted of navigator.languages) {
    const found = known.find((each) => each.slice(0, 2) === baseOf(wanted));
    if (found) return found;
  }
  return "en";
}

// The language with the region of the browser: days, the clock and the week are written as there, en-GB beside en-US.
export function locale(): string {
  const base = baseOf(language.value);
  if (localeOf[0] !== base) localeOf = [base, `${base}-${browserRegion(base)}`];
  return localeOf[1];
}

let localeOf: [base: string, locale: string] = ["", ""];

// The region that the browser names with our language, else that of the language it wants most.
function browserRegion(base: string): string {
  const wanted = navigator.languages.flatMap(asLocale);
  const own = wanted.find((each) => each.region && baseOf(each.language) === base);
  return (own ?? wanted[0]?.maximize())?.region ?? "US";
}

// None if it is no language tag: without a language of its own, Chromium says en-US@posix.
function asLocale(tag: string): Intl.Locale[] {
  try {
    return [new Intl.Locale(tag)];
  } catch {
    return [];
  }
}

// Norwegian is one language here, whichever of its names a browser has.
function baseOf(tag: string): string {
  const base = tag.slice(0, 2).toLowerCase();
  return base === "no" || base === "nn" ? "nb" : base;
}

// A text with its values: t("Delete {name}?", { name }). What follows `|` tells equal English texts apart: t("Open|state").
export function t(text: string, values?: Values): string {
  language.value; // subscribes the view
  const found = catalogue[text];
  return fill(typeof found === "string" ? found : withoutContext(text), values);
}

// A text with a number: tn("{count} person", "{count} people", count). Catalogues have a list of both forms under the first.
export function tn(one: string, other: string, count: number, values?: Values): string {
  language.value;
  const found = catalogue[one];
  const isOne = plurals.select(count) === "one";
  const forms = Array.isArray(found) ? found : [withoutContext(one), withoutContext(other)];
  const text = isOne ? forms[0]! : forms.at(-1)!;
  return fill(text, { count: formatNumber(count), ...values });
}

function withoutContext(text: string): string {
  return text.replace(/\|[^|]*$/, "");
}

function fill(text: string, values: Values = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}

let numbers = new Intl.NumberFormat("en");

export function formatNumber(value: number): string {
  if (numbersOf !== language.value) [numbersOf, numbers] = [language.value, new Intl.NumberFormat(language.value)];
  return numbers.format(value);
}

let numbersOf: Language = "en";

// As the first word of a line.
export const capitalized = (text: string) => text.charAt(0).toLocaleUpperCase() + text.slice(1);

export function formatList(items: string[]): string {
  return new Intl.ListFormat(language.value, { type: "conjunction" }).format(items);
}
