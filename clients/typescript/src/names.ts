// The displayed name of a person, as the service computes it (open points of the interface, section 8).

export interface NamedRecord {
  name: string;
  surname?: string | null;
  middleName?: string | null;
  secondLastName?: string | null;
  nickname?: string | null;
  prefix?: string | null;
  suffix?: string | null;
  displayNameOverride?: string | null;
}

export interface NameSettings {
  nameOrder: "WESTERN" | "EASTERN";
  nameDisplayFormat: "FULL" | "NICKNAME_PREFERRED" | "SHORT";
}

// Letters of names in Chinese, Japanese and Korean, other letters, and what stands between the parts of a foreign name. The
// ranges are those of the service (people/scripts.py).
const CJK_LETTERS =
  "\\u2e80-\\u2fdf\\u3005-\\u3007\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{3ffff}" +
  "\\u1100-\\u11ff\\u3130-\\u318f\\u31f0-\\u31ff\\uff66-\\uff9f\\uffa0-\\uffdc\\u{1b000}-\\u{1b16f}";
const CJK_LETTER = new RegExp(`[${CJK_LETTERS}]`, "u");
const OTHER_LETTER = new RegExp(`(?![${CJK_LETTERS}])\\p{L}`, "u");
const MIDDLE_DOT = /[\u00b7\u2022\u2027\u22c5\u30fb\uff65]/u;

// Chinese, Japanese and Korean, which are written without spaces. The ranges are those of the service (people/scripts.py).
const CJK_TEXT =
  /^[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u{20000}-\u{3ffff}]+$/u;

// Unlike the `displayName` of a record, this is right for one that was made or renamed here and not sent yet.
export function displayName(person: NamedRecord, { nameOrder, nameDisplayFormat }: NameSettings): string {
  if (person.displayNameOverride) return person.displayNameOverride;
  const called = person.nickname || person.name;
  if (nameDisplayFormat === "SHORT") return called;
  if (nameDisplayFormat === "NICKNAME_PREFERRED") {
    if (nameOrder === "EASTERN") return joinEastern([person.surname, called]);
    return isSurnameFirst([called, person.surname]) ? join([person.surname, called], "") : join([called, person.surname]);
  }
  const quoted = person.nickname ? `"${person.nickname}"` : null;
  const { prefix, name, middleName, surname, secondLastName, suffix } = person;
  if (nameOrder === "EASTERN") return join([joinEastern([surname, secondLastName, name, middleName]), quoted]);
  if (isSurnameFirst([name, middleName, surname, secondLastName])) {
    return join([prefix, join([surname, secondLastName, name, middleName], ""), quoted, suffix]);
  }
  return join([prefix, name, middleName, quoted, surname, secondLastName, suffix]);
}

// Whether all letters are Han, Hangul or Kana, and no middle dot stands between them: surname first, and without a space.
function isSurnameFirst(parts: Parts): boolean {
  const text = join(parts, "");
  return CJK_LETTER.test(text) && !OTHER_LETTER.test(text) && !MIDDLE_DOT.test(text);
}

type Parts = (string | null | undefined)[];

function join(parts: Parts, space = " "): string {
  return parts.filter(Boolean).join(space);
}

function joinEastern(parts: Parts): string {
  const hasNoSpaces = parts.every((part) => !part || CJK_TEXT.test(part));
  return join(parts, hasNoSpaces ? "" : " ");
}
