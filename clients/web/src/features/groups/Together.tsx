// What there was with the people of a group, the latest first.
import { signal } from "@preact/signals";
import { LiveTable } from "contacts-client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { today } from "../../i18n/days.ts";
import { t, tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { InteractionList } from "../person/InteractionList.tsx";

const SHOWN_AT_FIRST = 5;
const SHOWN_MORE = 25;

interface Touch {
  id: string;
  at: string;
  personIds: string[];
}

export function Together({ members }: { members: readonly PersonRow[] }) {
  const { copy, settings } = useAccount();
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  // Little is kept of each, as an account may have ten thousands.
  const touches = useMemo(() => signal<Touch[]>([]), [copy]);
  useEffect(() => {
    const table = new LiveTable(copy, "interaction", ({ id, at, personIds }): Touch => ({ id, at, personIds }), () => (touches.value = [...table.rows.values()]));
    void table.open();
    return () => table.close();
  }, [copy]);
  const entries = useMemo(() => {
    const ids = new Set(members.map(({ id }) => id));
    const found = touches.value.filter(({ personIds }) => personIds.some((id) => ids.has(id)));
    return found.sort((one, other) => (one.at > other.at ? -1 : 1)).map(({ id }) => id);
  }, [members, touches.value]);
  if (entries.length === 0) return null;
  return (
    <section class="section" aria-label={t("Together")}>
      <header>
        <h2>{t("Together")}</h2>
      </header>
      <InteractionList ids={entries.slice(0, shown)} now={today(settings.value.timezone)} />
      {entries.length > shown && (
        <button class="plain no-print" onClick={() => setShown(shown + SHOWN_MORE)}>
          {tn("{count} more", "{count} more", entries.length - shown)}
        </button>
      )}
    </section>
  );
}
