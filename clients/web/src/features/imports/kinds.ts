// What a file is, seen from how it begins: its name and the media type of the browser say too little.

export const KINDS = [
  { id: "vcard", label: "Phone, address book (vCard)" },
  { id: "google", label: "Google Contacts (CSV)" },
  { id: "outlook", label: "Outlook (CSV)" },
  { id: "linkedin", label: "LinkedIn (CSV)" },
  { id: "monica", label: "Monica (JSON or SQL)" },
  { id: "nametag", label: "Nametag (JSON)" },
  { id: "csv", label: "Another table (CSV)" },
] as const;
export type Kind = (typeof KINDS)[number]["id"];

// What holds nobody who could come in. `account` is the export of an account of this product, which has a page of its own.
export type Wrong = "account" | "archive" | "calendar" | "document" | "empty" | "otherProgram" | "picture" | "spreadsheet" | "unknown" | "webPage";
export type Recognised = { kind: Kind } | { wrong: Wrong };

export const isTable = (kind: Kind) => kind !== "vcard" && kind !== "monica" && kind !== "nametag";

export const HEAD_BYTES = 64 * 1024;

const SIGNATURES: [string, Wrong][] = [
  ["%PDF-", "document"],
  ["{\\rtf", "document"],
  ["\x89PNG", "picture"],
  ["\xff\xd8\xff", "picture"],
  ["GIF8", "picture"],
  ["BM\x36", "picture"],
  ["II*\0", "picture"],
  ["MM\0*", "picture"],
  ["\x1f\x8b", "archive"],
  ["BZh", "archive"],
  ["7z\xbc\xaf", "archive"],
  ["\xfd7zXZ", "archive"],
  ["Rar!\x1a", "archive"],
  ["!BDN", "otherProgram"], // Outlook's own file (.pst)
  ["SQLite format 3\0", "otherProgram"],
];
// What an archive is, by a name in it, and an old file of Office by the names of its streams.
const ZIP_CONTENTS: [string, Wrong][] = [
  ["xl/", "spreadsheet"],
  ["opendocument.spreadsheet", "spreadsheet"],
  ["Index/CalculationEngine", "spreadsheet"],
  ["word/", "document"],
  ["opendocument.text", "document"],
];
const OLE_CONTENTS: [string, Wrong][] = [
  ["W\0o\0r\0k\0b\0o\0o\0k\0", "spreadsheet"],
  ["B\0o\0o\0k\0", "spreadsheet"],
  ["W\0o\0r\0d\0D\0o\0c\0", "document"],
];
const TEXTS: [RegExp, Kind | Wrong][] = [
  [/^(item\d+\.)?BEGIN\s*:\s*VCARD/i, "vcard"],
  [/^BEGIN\s*:\s*VCALENDAR/i, "calendar"],
  [/^<(!doctype\s+html|html|head|body|table|meta|script|div)\b/i, "webPage"],
  [/^(<\?xml|<!--|<[a-z][\w:.-]*(\s[^<>]*)?>\s*<)/i, "otherProgram"],
  [/^(version: ?1\s+)?dn::? ?[^\s,;]/i, "otherProgram"], // LDIF
];
const JSON_START = /^(\{\s*("|\}|$)|\[\s*([{["\]\d-]|true\b|false\b|null\b|$))/;
const SQL_START = /^(--|\/\*|SET\s|PRAGMA\s|BEGIN|(INSERT|CREATE|DROP)\s+(INTO|TABLE)\b)/i;
const SQL_STATEMENT = /^[ \t]*(INSERT|CREATE)\s+(IGNORE\s+)?(INTO|TABLE)\b/im;

// Outlook names its columns in the language of the program: given name, surname, and the address of mail.
const OUTLOOK: [string, string, RegExp][] = [
  ["First Name", "Last Name", /^E-mail Address$/],
  ["Vorname", "Nachname", /^E-Mail-Adresse$/],
  ["Prénom", "Nom", /^Adresse de (messagerie|courrier)$/],
  ["Nombre", "Apellidos", /^Dirección de correo electrónico$/],
  ["Fornavn", "Etternavn", /^E-postadresse$/],
  ["名", "姓", /^電子メール アドレス$/],
];
const NAME_COLUMN = /^((full|contact)? ?name|nom( complet)?|nombre( completo)?|(fullt )?navn|氏名|名前)$/i;
const DELIMITERS = [",", ";", "\t", "|"];

// `head` is how the file begins, at most HEAD_BYTES of it, and `tail` how it ends: there an archive names what is in it.
export function recognise(head: Uint8Array, tail: Uint8Array = new Uint8Array()): Recognised {
  const raw = latin(head);
  const signature = SIGNATURES.find(([mark]) => raw.startsWith(mark));
  if (signature) return { wrong: signature[1] };
  if (raw.startsWith("PK\x03\x04")) return { wrong: contentsOf(raw + latin(tail), ZIP_CONTENTS) ?? "archive" };
  if (raw.startsWith("\xd0\xcf\x11\xe0")) return { wrong: contentsOf(raw, OLE_CONTENTS) ?? "otherProgram" };
  const text = decode(head).trim();
  if (!text) return { wrong: "empty" };
  if (controls(text) > text.length / 20) return { wrong: "unknown" };
  const found = TEXTS.find(([pattern]) => pattern.test(text))?.[1];
  if (found) return found === "vcard" ? { kind: found } : { wrong: found as Wrong };
  if (JSON_START.test(text)) return recogniseJson(text);
  if (SQL_START.test(text) && SQL_STATEMENT.test(text)) return { kind: "monica" };
  return recogniseTable(text);
}

function recogniseJson(text: string): Recognised {
  if (/"format"\s*:\s*"contact-network"/.test(text)) return { wrong: "account" };
  if (/^\{[^]{0,2000}"account"\s*:\s*\{/.test(text)) return { kind: "monica" };
  if (/^\{[^]*"exportDate"\s*:/.test(text)) return { kind: "nametag" };
  return { wrong: "otherProgram" };
}

function recogniseTable(text: string): Recognised {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim());
  // Notes may stand above the header.
  const linkedIn = lines.find((line) => ["First Name", "Last Name", "Connected On"].every((name) => line.includes(name)));
  if (linkedIn) return { kind: "linkedin" };
  const start = /^"?sep=[,;\t|]"?\s*$/i.test(lines[0]!) ? 1 : 0;
  const header = lines[start] ?? "";
  const delimiter = widest(header);
  const names = cells(header, delimiter);
  const has = (name: string) => names.includes(name);
  const isGoogle = names.some((name) => /^(E-mail|Phone) 1 - (Type|Label|Value)$/.test(name) || name === "Group Membership" || name === "Labels");
  if (isGoogle && ["Given Name", "First Name", "Family Name", "Last Name"].some(has)) return { kind: "google" };
  if (names.length >= 10 && OUTLOOK.some(([given, surname, mail]) => has(given) && has(surname) && names.some((name) => mail.test(name)))) return { kind: "outlook" };
  const isWide = names.length > 1 && (lines.length === start + 1 || cells(lines[start + 1]!, delimiter).length > 1);
  // One column: names below their heading, or addresses of mail.
  const isList = NAME_COLUMN.test(names[0]!) || lines.slice(start).every((line) => /^(e-?mail|[^\s@]+@[^\s@]+)$/i.test(line.trim()));
  return isWide || (names.length === 1 && isList) ? { kind: "csv" } : { wrong: "unknown" };
}

// The delimiter that splits a header into the most names.
function widest(header: string): string {
  return DELIMITERS.reduce((best, mark) => (cells(header, mark).length > cells(header, best).length ? mark : best));
}

// The cells of one line. Quotes around them, and those of Excel's ="..." are taken off.
function cells(line: string, delimiter: string): string[] {
  const found: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === delimiter && !isQuoted) {
      found.push(cell);
      cell = "";
    } else cell += character;
  }
  return [...found, cell].map((each) => each.trim().replace(/^=/, ""));
}

// The text of a file's beginning: by its mark, as UTF-16 if every other byte is zero, as UTF-8 if it is valid, else as what
// Windows writes in Japan or in the West. Enough to know names of columns.
export function decode(head: Uint8Array): string {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(head);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(head);
  const sample = head.subarray(0, 1_000);
  const zeros = [0, 1].map((parity) => sample.filter((byte, index) => byte === 0 && index % 2 === parity).length);
  if (zeros[1]! > sample.length / 4) return new TextDecoder("utf-16le").decode(head);
  if (zeros[0]! > sample.length / 4) return new TextDecoder("utf-16be").decode(head);
  for (const encoding of ["utf-8", "shift_jis"]) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true }); // the last letter may be cut
      if (encoding === "utf-8" || /[ぁ-んァ-ヶ一-龠]{2}/.test(text)) return text;
    } catch {
      continue;
    }
  }
  return new TextDecoder("windows-1252").decode(head);
}

function latin(head: Uint8Array): string {
  return Array.from(head.subarray(0, HEAD_BYTES), (byte) => String.fromCharCode(byte)).join("");
}

function contentsOf(raw: string, contents: [string, Wrong][]): Wrong | undefined {
  return contents.find(([mark]) => raw.includes(mark))?.[1];
}

function controls(text: string): number {
  return [...text].filter((character) => character < " " && !"\t\r\n\f\x1b".includes(character)).length;
}
