// Phone numbers for searching: whichever way a number is written, it finds the others of the same number. As two numbers are
// compared by the service (docs/entries.md), but coarser: a trunk prefix counts as one whatever the country.

const TWO_DIGIT_CODES = new Set("20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98".split(" "));
const KEYPAD = "22233344455566677778889999";
const EXTENSION = /\s*(?:[;,#x]|\b(?:ext|extension|durchwahl|poste|interno|toestel|ramal|anexo)\b|内線|内线|내선).*$/;
const MIN_DIGITS = 3; // that are searched in numbers
const MIN_AFTER_EXIT_CODE = 10; // else 011 is an area code
const MAX_NATIONAL = 11;
// What is dialled before a national number, and left out behind the codes of its countries.
const TRUNKS: readonly (readonly [prefix: string, codes: RegExp])[] = [["0", /^/], ["06", /^36/], ["8", /^(?:7|37[05])/], ["1", /^1/]];

// A number as rows keep it: its digits, with `+` in front if they begin with the code of a country. The extension follows a blank.
export function storedNumber(text: string): string {
  const plain = asciiDigits(text.normalize("NFKC")).toLowerCase().replace(/^\s*tel:/, "").trim();
  const bare = plain.replace(EXTENSION, "");
  const extension = plain.slice(bare.length).replace(/\D/g, "");
  let number = /^[+(]*\d[\d ()./-]*[a-z]{3}/.test(bare) ? spelledOut(bare) : bare;
  if (/^[\s(]*\+/.test(number)) number = number.replace(/\(\s*0\s*\)/, "");
  const isPlus = /^[\s(]*\+/.test(number);
  let digits = number.replace(/\D/g, "");
  const exit = isPlus ? "" : (/^(?:00(?=[1-9])|011(?=[1-9]))/.exec(digits)?.[0] ?? "");
  const isExit = exit === "00" || (exit === "011" && digits.length - 3 >= MIN_AFTER_EXIT_CODE);
  if (isExit) digits = digits.slice(exit.length);
  const isInternational = isPlus || isExit || (digits.length > MAX_NATIONAL && !digits.startsWith("0"));
  return `${isInternational && digits ? "+" : ""}${digits}${extension ? ` ${extension}` : ""}`;
}

// The letters of 0800 FLOWERS are those of a keypad.
function spelledOut(text: string): string {
  return text.replace(/[a-z]/g, (letter) => KEYPAD[letter.charCodeAt(0) - 97]!);
}

// Digits of any script as ASCII: each script has its ten in a row.
function asciiDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    let value = 0;
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(digit.codePointAt(0)! - value - 1))) value++;
    return String(value);
  });
}

function codeLength(digits: string): number {
  return /^[17]/.test(digits) ? 1 : TWO_DIGIT_CODES.has(digits.slice(0, 2)) ? 2 : 3;
}

// Whether a query is a number, or the beginning or an inner part of one: then the test for the numbers of a row, each as
// storedNumber() has it, with a blank before each.
export function numberTest(query: string): ((numbers: string) => boolean) | null {
  const plain = asciiDigits(query.normalize("NFKC")).trim();
  if (!/^(?:tel:)?[+(]*\d[\d ()./+-]*(?:\D*\d{1,6}|-?[a-z]{3,}[a-z ()-]*)?$/i.test(plain)) return null;
  const [number = ""] = storedNumber(plain).split(" ");
  const digits = number.replace("+", "");
  if (digits.length < MIN_DIGITS) return null;
  if (number.startsWith("+")) {
    const rest = digits.slice(codeLength(digits));
    const national = rest.length < MIN_DIGITS ? [] : TRUNKS.filter(([, codes]) => codes.test(digits)).map(([prefix]) => ` ${prefix}${rest}`);
    const needles = [`+${digits}`, ...(rest.length < MIN_DIGITS ? [] : [` ${rest}`]), ...national];
    return (numbers) => needles.some((needle) => numbers.includes(needle));
  }
  const cores = TRUNKS.filter(([prefix]) => digits.startsWith(prefix) && digits.length - prefix.length >= MIN_DIGITS);
  return (numbers) =>
    numbers.includes(digits) || cores.some(([prefix, codes]) => hasNational(numbers, digits.slice(prefix.length), codes, prefix === "0"));
}

// Whether a number is the national one behind the code of its country; also one that is written without a trunk prefix.
function hasNational(numbers: string, core: string, codes: RegExp, isAlone: boolean): boolean {
  if (isAlone && numbers.includes(` ${core}`)) return true;
  for (let at = numbers.indexOf(core); at >= 0; at = numbers.indexOf(core, at + 1)) {
    const plus = numbers.lastIndexOf("+", at);
    if (plus < 0) continue;
    const digits = numbers.slice(plus + 1);
    if (at - plus - 1 === codeLength(digits) && codes.test(digits)) return true;
  }
  return false;
}
