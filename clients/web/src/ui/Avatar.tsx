import { useState } from "preact/hooks";
import { connection } from "../app/session.ts";

interface Props {
  person: { id: string; name: string; photo: string | null };
  large?: boolean;
  isUser?: boolean;
  // Without a name of its own where the name of the person stands beside it.
  alt?: string;
}

// The photo, or the first letters of the name while there is none: also before it is loaded, or where it cannot be.
export function Avatar({ person, large = false, isUser = false, alt = "" }: Props) {
  const url = connection.photoUrl(person, isUser);
  const [failed, setFailed] = useState<string | null>(null);
  const className = `avatar${large ? " large" : ""}`;
  if (url && failed !== url) {
    return <img class={className} src={url} alt={alt} width={large ? 88 : 40} height={large ? 88 : 40} loading="lazy" decoding="async" onError={() => setFailed(url)} />;
  }
  return (
    <span class={className} role={alt ? "img" : undefined} aria-label={alt || undefined} aria-hidden={alt ? undefined : "true"}>
      {initials(person.name)}
    </span>
  );
}

export function initials(name: string): string {
  const words = name.replace(/["“”()]/g, "").split(/\s+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0]!, words.at(-1)!] : words;
  return letters.map((word) => [...word][0]!.toUpperCase()).join("");
}
