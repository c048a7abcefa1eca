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

// Chinese, Japanese and Korean, which are written without spaces. The ranges are those of the service (people/names.py).
const CJK_TEXT =
  /^[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u{20000}-\u{3ffff}]+$/u;

// Unlike the `displayName` of a record, this is right for one that was made or renamed here and not sent yet.
export function displayName(person: NamedRecord, { nameOrder, nameDisplayFormat }: NameSettings): string {
  if (person.displayNameOverride) return person.displayNameOverride;
  const called = person.nickname || person.name;
  if (nameDisplayFormat === "SHORT") return called;
  if (nameDisplayFormat === "NICKNAME_PREFERRED") {
    return nameOrder === "WESTERN" ? join([called, person.surname]) : joinEastern([person.surname, called]);
  }
  const quoted = person.nickname ? `"${person.nickname}"` : null;
  const { prefix, name, middleName, surname, secondLastName, suffix } = person;
  if (nameOrder === "EASTERN") return joinEastern([surname, secondLastName, name, middleName, quoted]);
  return join([prefix, name, middleName, quoted, surname, secondLastName, suffix]);
}

type Parts = (string | null | undefined)[];

function join(parts: Parts, space = " "): string {
  return parts.filter(Boolean).join(space);
}

function joinEastern(parts: Parts): string {
  const hasNoSpaces = parts.every((part) => !part || CJK_TEXT.test(part.replace(/^"+|"+$/g, "")));
  return join(parts, hasNoSpaces ? "" : " ");
}
