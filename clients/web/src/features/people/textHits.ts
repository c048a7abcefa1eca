// Who is found only by what is not in memory: logged contacts, and texts beyond their first characters.
import { useEffect, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import type { PersonRow } from "../../store/people.ts";

const PAUSE_MILLISECONDS = 250; // of somebody who types
const MIN_LETTERS = 3;
const NOBODY: PersonRow[] = [];

// Those of `rows` beyond `found`, a moment later.
export function useTextHits(words: string, rows: PersonRow[], found: PersonRow[]): PersonRow[] {
  const account = useAccount();
  const [hits, setHits] = useState<{ words: string; ids: ReadonlySet<string> }>({ words: "", ids: new Set() });
  useEffect(() => {
    if (words.trim().length < MIN_LETTERS) return;
    const end = new AbortController();
    const timer = setTimeout(async () => {
      const { Texts } = await import("../search/texts.ts");
      const texts = new Texts(account);
      try {
        await texts.find(words, rows, end.signal, (some) => setHits({ words, ids: new Set(some.map(({ personId }) => personId)) }), rows.length);
      } finally {
        texts.close();
      }
    }, PAUSE_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [words, rows]);
  if (hits.words !== words || hits.ids.size === 0) return NOBODY;
  const known = new Set(found.map(({ id }) => id));
  return rows.filter(({ id }) => hits.ids.has(id) && !known.has(id));
}
