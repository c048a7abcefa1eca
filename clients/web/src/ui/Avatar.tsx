import { useState } from "preact/hooks";
import { connection } from "../app/session.ts";
import { hueOf } from "./hue.ts";

interface Props {
  person: { id: string; name: string; photo: string | null; hasDied?: boolean };
  // 2, 2.5 (without), 3, 4 and 5.5rem.
  size?: "small" | "medium" | "big" | "large" | undefined;
  isUser?: boolean;
  isDue?: boolean; // a ring: it is time to get in touch
  // Without a name of its own where the name of the person stands beside it.
  alt?: string;
}

// The photo, or the first letters of the name while there is none: also before it is loaded, or where it cannot be.
export function Avatar({ person, size, isUser = false, isDue = false, alt = "" }: Props) {
  const url = connection.photoUrl(person, isUser);
  const [failed, setFailed] = useState<string | null>(null);
  const className = `avatar ${size ?? ""} ${hueOf(person.id)}${isDue ? " due" : ""}${person.hasDied ? " died" : ""}`;
  if (url && failed !== url) {
    return <img class={className} src={url} alt={alt} width="40" height="40" loading="lazy" decoding="async" onError={() => setFailed(url)} />;
  }
  return (
    <span class={className} role={alt ? "img" : undefined} aria-label={alt || undefined} aria-hidden={alt ? undefined : "true"}>
      {initials(person.name)}
    </span>
  );
}

const SURNAME_FIRST = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;
const ONE_SIGN = /^[\p{sc=Arabic}\p{sc=Hebrew}]/u;

// Of the first and the last word; where one sign is usual, that of the family name.
export function initials(name: string): string {
  const spoken = name.split(/\s+/).map((word) => word.replace(/^[^\p{L}\p{N}]+/u, "")).filter(Boolean);
  const words = spoken.length ? spoken : [name.trim() || "?"]; // signs alone
  const [first = "", last = ""] = [words[0], words.at(-1)];
  if (SURNAME_FIRST.test(first)) return [...first][0]!;
  if (ONE_SIGN.test(last)) return [...last][0]!;
  return (words.length > 1 ? [first, last] : words).map((word) => [...word][0]!.toUpperCase()).join("");
}
