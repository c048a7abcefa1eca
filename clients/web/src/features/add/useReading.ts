// What the words of a box or a line say, among the people, groups and kinds of relationship of the account.
import { useEffect, useMemo, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { today } from "../../i18n/days.ts";
import { language } from "../../i18n/index.ts";
import { NameIndex } from "./names.ts";
import { parse, type Reading } from "./parse.ts";

const WAIT_MILLISECONDS = 30; // until the first letter is painted; the index of ten thousand names takes as long

// Null before the names are read.
export function useReading(text: string): Reading | null {
  const { groups, people, relationshipTypes, settings } = useAccount();
  const rows = people.value;
  const [names, setNames] = useState<NameIndex | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setNames(new NameIndex(rows)), names ? 500 : WAIT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [rows]);
  const { dateFormat, timezone } = settings.value;
  return useMemo(
    () => names && parse(text, { language: language.value, today: today(timezone), dateFormat, names, groups: groups.all, types: relationshipTypes.all }),
    [text, names, groups.byId.value, relationshipTypes.byId.value, dateFormat, timezone, language.value],
  );
}
