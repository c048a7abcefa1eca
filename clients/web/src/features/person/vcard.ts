// A person as a vCard (RFC 6350), for sharing: what somebody else may be given, without notes and dates of one's own.
import { addressLines, type Entry, type Person } from "./entries.ts";

export function toVCard(person: Person, name: string, birthday: string | null): string {
  const lines = [
    "BEGIN:VCARD",
    "VERSION:4.0",
    `FN:${escape(name)}`,
    `N:${[person.surname, person.name, person.middleName, person.prefix, person.suffix].map((part) => escape(part ?? "")).join(";")}`,
    person.nickname && `NICKNAME:${escape(person.nickname)}`,
    person.organization && `ORG:${escape(person.organization)}`,
    person.jobTitle && `TITLE:${escape(person.jobTitle)}`,
    birthday && `BDAY:${birthday.replaceAll("-", "")}`,
    ...person.phoneNumbers.map(({ number, type }) => `TEL;TYPE=${kind(type)}:${escape(number)}`),
    ...person.emails.map(({ email, type }) => `EMAIL;TYPE=${kind(type)}:${escape(email)}`),
    ...person.urls.map(({ url }) => `URL:${url}`),
    ...person.addresses.filter((entry) => addressLines(entry as Entry).length).map((entry) => {
      const street = [entry.streetLine1, entry.streetLine2].filter(Boolean).join(", ");
      const parts = ["", "", street, entry.locality, entry.region, entry.postalCode, entry.country];
      return `ADR;TYPE=${kind(entry.type)}:${parts.map((part) => escape(part ?? "")).join(";")}`;
    }),
    "END:VCARD",
  ];
  return `${lines.filter(Boolean).map((line) => fold(line as string)).join("\r\n")}\r\n`;
}

function escape(text: string): string {
  return text.replace(/[\\,;]/g, "\\$&").replace(/\r?\n/g, "\\n");
}

function kind(type: string | null): string {
  return type === "mobile" ? "cell" : type === "work" ? "work" : "home";
}

// At most 75 bytes a line, without cutting a character (RFC 6350, 3.2).
function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = "";
  let length = 0;
  for (const character of line) {
    const bytes = encoder.encode(character).length;
    if (length + bytes > 74) {
      folded += "\r\n ";
      length = 1;
    }
    folded += character;
    length += bytes;
  }
  return folded;
}
