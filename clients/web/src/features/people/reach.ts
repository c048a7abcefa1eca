// What dials, writes or opens: the addresses of the web for a number, a mail address, a handle. And the usual one of several.

// Words for an extension and the marks of a pause, as the service knows them (people/phone_numbers.py).
const EXTENSION = /[;,#x]|ext|durchwahl|poste|interno|toestel|ramal|anexo|dahili|доб|内線|内线|分机|내선/;
const TRUNK_PREFIX_IN_BRACKETS = /\(\s*0\s*\)/g;
const MIN_DIGITS = 3;
const WHOLE_DIGITS = 7; // of a number to which letters are a remark, not keys (1-800-FLOWERS)
const KEYPAD = "22233344455566677778889999"; // of the letters from a to z

interface Dialled {
  digits: string; // as the keys of a telephone
  isInternational: boolean; // with the country code
  isWrittenWithPlus: boolean;
  extension: string;
}

function dial(number: string): Dialled | null {
  let text = number.normalize("NFKC").replace(/\p{Nd}/gu, asciiDigit).trim().toLowerCase().replace(/^tel:/, "");
  let extension = "";
  const mark = /^[*#]/.test(text) ? null : EXTENSION.exec(text); // a service code has no extension
  if (mark) {
    const [before, after] = [text.slice(0, mark.index), text.slice(mark.index + mark[0].length).replace(/\D/g, "")];
    if (after && /\d/.test(before)) [text, extension] = [before, after];
  }
  const isWrittenWithPlus = /^[( ]*\+/.test(text);
  const isInternational = isWrittenWithPlus || /^(?:00|011)[1-9]/.test(text.replace(/[^\w*#]/g, ""));
  // "+44 (0)20 …": the trunk prefix is not dialled after a country code.
  if (isInternational) text = text.replace(TRUNK_PREFIX_IN_BRACKETS, "");
  const hasWords = text.replace(/\D/g, "").length >= WHOLE_DIGITS || !/\d/.test(text);
  text = hasWords ? text : text.replace(/^[^\d*#+]+/, "").replace(/[a-z]/g, (letter) => KEYPAD[letter.charCodeAt(0) - 97]!);
  const digits = text.replace(/[^0-9*#]/g, "");
  return digits.length >= MIN_DIGITS ? { digits, isInternational, isWrittenWithPlus, extension } : null;
}

// Decimal digits of a script are in a row, which begins at the 0 or the 6 of sixteen.
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  const row = code - (code % 16);
  const zero = /\p{Nd}/u.test(String.fromCodePoint(row)) ? row : row + 6;
  return String(code - zero);
}

// A comma is the pause before an extension that phones of all makes keep.
export function telUrl(number: string): string | null {
  const dialled = dial(number);
  return dialled && `tel:${keysOf(dialled)}${dialled.extension ? `,${dialled.extension}` : ""}`;
}

export function smsUrl(number: string): string | null {
  const dialled = dial(number);
  return dialled && `sms:${keysOf(dialled)}`;
}

function keysOf({ digits, isWrittenWithPlus }: Dialled): string {
  return `${isWrittenWithPlus ? "+" : ""}${digits.replaceAll("#", "%23")}`;
}

export function mailUrl(email: string): string {
  return `mailto:${encodeURIComponent(email).replace("%40", "@")}`;
}

// Other schemes are not linked: `javascript:` would run as this page. www.example.org is linked without one.
export function webUrl(url: string): string | null {
  try {
    const { protocol, href } = new URL(/^www\./i.test(url) ? `https://${url}` : url);
    return protocol === "http:" || protocol === "https:" ? href : null;
  } catch {
    return null;
  }
}

export function messengerUrl(protocol: string | null, handle: string): string | null {
  const digits = handle.replace(/\D/g, "");
  switch (protocol?.toLowerCase()) {
    case "whatsapp":
      return digits ? `https://wa.me/${digits}` : null;
    case "signal":
      return digits ? `https://signal.me/#p/+${digits}` : null;
    case "telegram":
      return `https://t.me/${encodeURIComponent(handle.replace(/^@/, ""))}`;
    case "matrix":
      return `https://matrix.to/#/${encodeURIComponent(handle)}`;
    default:
      return webUrl(handle);
  }
}

interface Reachable {
  phoneNumbers: readonly { number: string; type: string | null }[];
  imHandles: readonly { handle: string; protocol: string | null }[];
}

export interface MessageWay {
  key: string; // by which the browser remembers it
  by: string; // the messenger, as it calls itself
  value: string;
  url: string;
}

const MESSENGERS = [["whatsapp", "WhatsApp"], ["signal", "Signal"], ["telegram", "Telegram"]] as const;
const NAMES: Record<string, string> = { ...Object.fromEntries(MESSENGERS), matrix: "Matrix", threema: "Threema" };

// How a person can be written a message: by their handles, and by their numbers. Messengers know a number by its country code.
export function messageWays({ phoneNumbers, imHandles }: Reachable): MessageWay[] {
  const ways: MessageWay[] = [];
  for (const { handle, protocol } of imHandles) {
    const url = messengerUrl(protocol, handle);
    if (url) ways.push({ key: `${protocol ?? ""} ${handle}`, by: NAMES[protocol?.toLowerCase() ?? ""] ?? protocol ?? "", value: handle, url });
  }
  const isMobile = ({ type }: { type: string | null }) => /mobile|cell/i.test(type ?? "");
  const numbers = phoneNumbers.some(isMobile) ? phoneNumbers.filter(isMobile) : phoneNumbers;
  for (const { number } of numbers) {
    const [dialled, url] = [dial(number), smsUrl(number)];
    if (!dialled || !url) continue;
    ways.push({ key: `sms ${number}`, by: "SMS", value: number, url });
    if (!dialled.isInternational) continue;
    const handle = dialled.isWrittenWithPlus ? dialled.digits : dialled.digits.replace(/^(?:00|011)/, "");
    for (const [protocol, by] of MESSENGERS) {
      if (ways.some((way) => way.by === by)) continue;
      ways.push({ key: `${protocol} ${number}`, by, value: number, url: messengerUrl(protocol, protocol === "telegram" ? `+${handle}` : handle)! });
    }
  }
  return ways;
}

// The one of several that was used last in this browser: a number, a mail address, the key of a way to write a message.
export type UsualKind = "call" | "mail" | "message";

const usualKey = (accountId: string, personId: string) => `usual ${accountId} ${personId}`;

function readUsual(accountId: string, personId: string): Partial<Record<UsualKind, string>> {
  try {
    return JSON.parse(localStorage.getItem(usualKey(accountId, personId)) ?? "{}") as Partial<Record<UsualKind, string>>;
  } catch {
    return {};
  }
}

export function usual(accountId: string, personId: string, kind: UsualKind): string | null {
  return readUsual(accountId, personId)[kind] ?? null;
}

export function setUsual(accountId: string, personId: string, kind: UsualKind, value: string | null): void {
  const all = readUsual(accountId, personId);
  if (value === null) delete all[kind];
  else all[kind] = value;
  try {
    localStorage.setItem(usualKey(accountId, personId), JSON.stringify(all));
  } catch {
    // No room: the first is offered again.
  }
}

// Opens what a menu has chosen, as a link would.
export function follow(url: string): void {
  if (url.startsWith("http")) window.open(url, "_blank", "noreferrer");
  else location.href = url;
}
