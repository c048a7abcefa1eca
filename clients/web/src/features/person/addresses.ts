// The lines of an address as its country writes them, as on letters (people/letters/lines.py); a test compares both.
import { fold } from "../../store/fold.ts";
import type { Entry } from "./entries.ts";

// By the format, in which %A is the street, %C the town, %S the region, %Z the postal code, and | ends a line: the countries.
// Those that are in none have FORMAT_OF_OTHERS.
const FORMATS: Record<string, string> = {
  "%A|%Z %C": "AD AT BA BE BG CY CZ DE DK DO DZ EH ET FR GE GL GR GW IS KG KW LA LR MA ME MG MK NE NL NO PL PT PY RS SJ SK SM SN TJ TM TN TZ VA XK ZM",
  "%A|%C|%Z": "AC AF AI FK GB GG GI GS IM IO JE KE LK NA PN SD SH SZ TA TC VG ZA",
  "%A|%C %Z": "BH BM BN BT GU IL JO KH LB LS MT MV NP NZ SA SG VC",
  "%A|%C %S %Z": "AS AU CA CC CX FM HM MH MP NF PW UM VI",
  "%A|%Z %C ": "BL GF GP MF MQ NC PM RE WF YT",
  "%A|%C, %S %Z": "BB KY SO TW US",
  "%A|%C|%S": "HK PA SC SR TV",
  "%A|%C|%S|%Z": "EG IE KR RU UA",
  "%A|%Z %C %S": "EE ES IT PF UY",
  "%A|%Z %C|%S": "AR CL CV MY UZ",
  "%A|%C, %S": "AE BS KN NR",
  "%A|%Z|%C": "AL EC MU OM",
  "%A|%C %Z|%S": "IN NG PE",
  "%A|%C|%S %Z": "ID MN VN",
  "%A|%C ": "BF MW",
  "%A|%C, %S|%Z": "HN IQ",
  "%A|%C|%S, %Z": "CN KP",
  " %A %C ": "CI",
  "%A": "MO",
  "%A, %C, %S|%Z": "JP",
  "%A|%C %S|%Z": "CU",
  "%A|%C %Z %S": "PG",
  "%A|%C %Z, %S": "VE",
  "%A|%C - %Z": "BD",
  "%A|%C PR %Z": "PR",
  "%A|%C, %S, %Z": "CO",
  "%A|%C, %Z": "MM",
  "%A|%C-%S|%Z": "BR",
  "%A|%C-%Z": "PK",
  "%A|%C|%S ": "JM",
  "%A|%S, %C|%Z": "CR",
  "%A|%S|%C": "KI",
  "%A|%S|%C, %Z": "LV",
  "%A|%Z %C%S": "MZ",
  "%A|%Z %C, %S": "MX",
  "%A|%Z %C/%S": "TR",
  "%A|%Z %S %C": "RO",
  "%A|%Z, %C|%S": "BY",
  "%A|%Z- %C": "GT",
  "%A|%Z-%C|%S": "SV",
  "%A|%Z|%C, %S": "NI",
  "%A|%Z|%C|%S": "AM",
  "%A|, %C|%S %Z": "TH",
  "%A|, %C|%Z %S": "PH",
  "%A|AX-%Z %C": "AX",
  "%A|AZ %Z %C": "AZ",
  "%A|CH-%Z %C": "CH",
  "%A|FI-%Z %C": "FI",
  "%A|FL-%Z %C": "LI",
  "%A|FO%Z %C": "FO",
  "%A|HR-%Z %C": "HR",
  "%A|HT%Z %C": "HT",
  "%A|L-%Z %C": "LU",
  "%A|LT-%Z %C %S": "LT",
  "%A|MC-%Z %C ": "MC",
  "%A|MD-%Z %C": "MD",
  "%A|SE-%Z %C": "SE",
  "%A|SI-%Z %C": "SI",
  "%C|%A|%Z": "HU",
  "%S|%C, |%A|%Z": "IR",
  "%Z %A %C": "GN",
  "%Z|%S|%C|%A": "KZ",
};
// Of addresses in Chinese, Japanese or Korean letters, where it differs.
const CJK_FORMATS: Record<string, string> = {
  "%A|%S%C": "AE NR",
  "%Z|%S%C|%A": "CN TW",
  "%S|%C|%A": "HK",
  "〒%Z|%S%C|%A": "JP",
  "%Z|%S|%C|%A": "KP",
  "%S %C|%A|%Z": "KR",
  "%A|%S%C %Z": "KY",
  "%A| %C|%S %Z": "TH",
};
const FORMAT_OF_A_COUNTRY = "%A|%C"; // of one that is in none of them
const FORMAT_WITHOUT_COUNTRY = "%A|%Z %C"; // as most of the world writes it
const CJK_LETTER = /[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u{20000}-\u{3ffff}]/u;

const byCountry = (formats: Record<string, string>) =>
  new Map(Object.entries(formats).flatMap(([format, codes]) => codes.split(" ").map((code) => [code, format] as const)));
const LATIN = byCountry(FORMATS);
const CJK = byCountry(CJK_FORMATS);

type Values = Record<"A" | "C" | "S" | "Z", string[]>;

export function addressLines(entry: Entry): string[] {
  const text = (name: string) => String(entry[name] ?? "").split(/\s+/).filter(Boolean).join(" ");
  const one = (name: string) => (text(name) ? [text(name)] : []);
  const streets = [entry["streetLine1"], entry["streetLine2"]].flatMap((street) => String(street ?? "").split("\n"));
  const values: Values = {
    A: streets.map((line) => line.split(/\s+/).filter(Boolean).join(" ")).filter(Boolean),
    C: one("locality"),
    S: one("region"),
    Z: one("postalCode"),
  };
  const country = text("country");
  const code = country && countryCode(country);
  const isCjk = CJK_LETTER.test(Object.values(values).flat().join(""));
  const format = code ? ((isCjk && CJK.get(code)) || LATIN.get(code)) ?? FORMAT_OF_A_COUNTRY : FORMAT_WITHOUT_COUNTRY;
  const lines = format.split("|").flatMap((line) => fillLine(line, values));
  // What the format does not name, such as the region in most of Europe, stands below, unless the town has its name.
  const keys = Object.keys(values) as (keyof Values)[];
  const named = new Set(keys.filter((key) => format.includes(`%${key}`)).flatMap((key) => values[key].map(fold)));
  lines.push(...keys.flatMap((key) => values[key].filter((value) => !named.has(fold(value)))));
  return [...lines, ...one("country")];
}

// A line of a format with its values; none if all are empty. Of several lines of a street the last is in it.
function fillLine(line: string, values: Values): string[] {
  const [prefix, ...rest] = line.split(/%([ACSZ])/);
  const above: string[] = [];
  let [written, separator] = ["", prefix!];
  for (let at = 0; at < rest.length; at += 2) {
    const of = values[rest[at] as keyof Values];
    above.push(...of.slice(0, -1));
    const value = of.at(-1) ?? "";
    // A postal code may have been typed with the letters of its country.
    const hasPrefix = !written && separator.trim() !== "" && fold(value).startsWith(fold(separator));
    if (value && (written || at === 0)) written += hasPrefix ? value : separator + value;
    else if (value) written = value;
    separator = rest[at + 1]!;
  }
  return written ? [...above, written] : above;
}

const NAMED_IN = ["en", "de", "es", "fr", "ja", "nb", "it", "nl", "pt", "pl", "sv", "da", "ru", "zh", "tr"];
const MORE_NAMES = [
  ["england", "GB"], ["great britain", "GB"], ["uk", "GB"], ["u.k.", "GB"], ["usa", "US"], ["u.s.a.", "US"], ["u.s.", "US"], ["america", "US"],
  ["united states of america", "US"], ["holland", "NL"], ["czech republic", "CZ"], ["turkey", "TR"], ["republic of ireland", "IE"],
] as const;
let codesByName: Map<string, string> | null = null;

// The code of a country that is given by its code or by its name in a language of many.
export function countryCode(text: string): string | null {
  if (/^[a-z]{2}$/i.test(text) && (LATIN.has(text.toUpperCase()) || new Intl.DisplayNames("en", { type: "region", fallback: "none" }).of(text.toUpperCase()))) {
    return text.toUpperCase();
  }
  codesByName ??= readNames();
  return codesByName.get(fold(text)) ?? null;
}

function readNames(): Map<string, string> {
  const names = new Map<string, string>(MORE_NAMES);
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const english = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  const codes = letters.flatMap((first) => letters.map((second) => first + second)).filter((code) => english.of(code) !== undefined);
  for (const language of NAMED_IN) {
    const display = new Intl.DisplayNames(language, { type: "region", fallback: "none" });
    for (const code of codes) {
      const name = display.of(code);
      if (name && !names.has(fold(name))) names.set(fold(name), code);
    }
  }
  return names;
}

export function mapUrl(entry: Entry): string {
  return `https://www.openstreetmap.org/search?query=${encodeURIComponent(addressLines(entry).join(", "))}`;
}
