// What the words of a box or a line say, among the people, groups and kinds of relationship of the account.
import { useEffect, useMemo, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { today } from "../../i18n/days.ts";
import { language } from "../../i18n/index.ts";
import { NameIndex } from "./names.ts";
import { parse, type Reading } from "./parse.ts";

const STEP = 1000; // names, which take some milliseconds: what is typed meanwhile is painted between two steps
const PAUSE_MILLISECONDS = 500; // while people change, as in a first sync

const indexes = new WeakMap<object, NameIndex>(); // by the rows that were read, for the next opening

// Null before the names are read.
export function useReading(text: string): Reading | null {
  const { groups, people, relationshipTypes, settings } = useAccount();
  const rows = people.value;
  const [names, setNames] = useState<NameIndex | null>(() => indexes.get(rows) ?? null);
  useEffect(() => {
    if (indexes.has(rows)) return setNames(indexes.get(rows)!);
    const index = new NameIndex();
    let read = 0;
    const step = () => {
      index.add(rows.slice(read, (read += STEP)));
      if (read < rows.length) timer = setTimeout(step);
      else {
        indexes.set(rows, index);
        setNames(index);
      }
    };
    let timer = setTimeout(step, names ? PAUSE_MILLISECONDS : 0);
    return () => clearTimeout(timer);
  }, [rows]);
  const { dateFormat, timezone } = settings.value;
  return useMemo(
    () => names && parse(text, { language: language.value, today: today(timezone), dateFormat, names, groups: groups.all, types: relationshipTypes.all }),
    [text, names, groups.byId.value, relationshipTypes.byId.value, dateFormat, timezone, language.value],
  );
}
