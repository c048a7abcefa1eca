// The index A to Z at the edge: a tap, or a finger that moves along it, goes to the first person of a letter.
import { useMemo } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";

interface Props {
  rows: readonly PersonRow[];
  letterOf: (row: PersonRow) => string;
  onChoose: (index: number) => void;
}

const MIN_PEOPLE = 30;

export function LetterIndex({ rows, letterOf, onChoose }: Props) {
  const letters = useMemo(() => {
    const found = new Map<string, number>();
    rows.forEach((row, index) => {
      const letter = letterOf(row);
      if (!found.has(letter)) found.set(letter, index);
    });
    return [...found].slice(0, 40);
  }, [rows]);
  if (rows.length < MIN_PEOPLE || letters.length < 2) return null;
  return (
    <nav class="letters no-print" aria-label={t("Letters")}>
      {letters.map(([letter, index]) => (
        <button key={letter} onClick={() => onChoose(index)} aria-label={letter === "★" ? t("To the favourites") : t("To {letter}", { letter })}>
          {letter}
        </button>
      ))}
    </nav>
  );
}
