// Who is found: those whom memory knows at once, then by what they are to the best of these, by logged contacts and long texts.
import type { Records } from "contacts-client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { recentPeople } from "../../app/recent.ts";
import { personOnScreen } from "../../app/box.ts";
import { place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import { type PersonRow, search } from "../../store/people.ts";
import { useChanges } from "../../store/records.ts";
import { excerpt, type Part } from "./marks.tsx";
import { type Reason, reasonOf } from "./reasons.ts";
import { type TextHit, Texts } from "./texts.ts";

const MAX_RECENT = 5;
const MAX_TIES = 3;
const PAUSE_MILLISECONDS = 120; // of somebody who types, before what is not in memory is looked through
const MIN_LETTERS = 2;

export interface FoundPerson {
  row: PersonRow;
  reason: Reason | null;
}

// What is read for a query after a pause.
interface Late {
  query: string;
  hits: TextHit[];
  ties: Tie[];
}

const NOTHING = { hits: [], ties: [] };

export function useFound(query: string, max: number): FoundPerson[] {
  const account = useAccount();
  const rows = account.people.value;
  const words = query.trim();
  const inMemory = useMemo(() => (words ? search(rows, words, max) : recentRows(account.id, rows)), [rows, words, max]);
  const [late, setLate] = useState<Late>({ query: "", ...NOTHING });
  const [logged, setLogged] = useState(0); // changes of logged contacts
  const changes = useChanges("relationship") + logged; // the other side of a new tie comes with a sync
  const texts = useRef<Texts | null>(null);
  useEffect(() => {
    const index = new Texts(account, () => setLogged((before) => before + 1));
    texts.current = index;
    return () => index.close();
  }, [account]);
  const best = inMemory[0];
  useEffect(() => {
    if (words.length < MIN_LETTERS && !/[\u3040-\u9fff]/.test(words)) return;
    const end = new AbortController();
    const timer = setTimeout(() => {
      const known = (change: Partial<Late>) => {
        if (!end.signal.aborted) setLate((before) => ({ ...(before.query === words ? before : NOTHING), query: words, ...change }));
      };
      void texts.current!.find(words, rows, end.signal, (hits) => known({ hits }));
      if (best && isByName(best, words)) void tiesOf(account, best).then((ties) => known({ ties }));
    }, PAUSE_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [words, rows, best?.id, changes]);
  const { hits, ties } = late.query === words ? late : NOTHING;
  const shown = new Map(inMemory.map((row) => [row.id, row]));
  for (const id of [...ties.map(({ id: each }) => each), ...hits.map(({ personId }) => personId)]) {
    const row = account.person(id);
    if (row && !shown.has(id) && shown.size < max + MAX_TIES) shown.set(id, row);
  }
  const reasons = useReasons([...shown.values()], words, hits, ties);
  return [...shown.values()].map((row) => ({ row, reason: reasons.get(row.id) ?? null }));
}

// The people who were opened last, others of the user's favourites.
function recentRows(accountId: string, rows: readonly PersonRow[]): PersonRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const onScreen = personOnScreen(place.value.path);
  const recent = recentPeople(accountId).filter((id) => id !== onScreen);
  const ids = [...recent, ...rows.filter(({ isFavourite }) => isFavourite).map(({ id }) => id)];
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? []).slice(0, MAX_RECENT);
}

export function isByName({ search: searched, namesEnd }: PersonRow, words: string): boolean {
  const names = searched.slice(0, namesEnd);
  return fold(words).split(" ").every((word) => names.includes(word));
}

interface Tie {
  id: string;
  label: string; // what that one is, of the best hit: Mother
  name: string; // of the best hit
}

async function tiesOf(account: ReturnType<typeof useAccount>, best: PersonRow): Promise<Tie[]> {
  const types = account.relationshipTypes.byId.peek();
  const ties = (await account.copy.of("relationship", best.id)).map(({ relatedPersonId, relationshipTypeId }) => {
    const type = types.get(relationshipTypeId ?? "");
    return { id: relatedPersonId, label: (type?.symmetric ? type.label : type?.inverse?.label) ?? t("Connected"), name: best.name };
  });
  return ties.slice(0, MAX_TIES);
}

// Read for those who are shown; until then they are shown without.
function useReasons(rows: readonly PersonRow[], words: string, hits: readonly TextHit[], ties: readonly Tie[]): ReadonlyMap<string, Reason> {
  const account = useAccount();
  const [reasons, setReasons] = useState<{ words: string; of: ReadonlyMap<string, Reason> }>({ words: "", of: new Map() });
  const folded = fold(words).split(" ");
  const asked = words ? rows.filter(({ name }) => !folded.every((word) => fold(name).includes(word))) : []; // else the name says it
  const ids = asked.map(({ id }) => id);
  useEffect(() => {
    if (ids.length === 0) return;
    let isWanted = true;
    void (async () => {
      const people = await account.copy.many("person", ids);
      const contactIds = hits.flatMap(({ contactId }) => contactId ?? []);
      const contacts = contactIds.length ? await account.copy.many("interaction", contactIds) : new Map<string, Records["interaction"]>();
      const found = new Map<string, Reason>();
      for (const row of asked) {
        const person = people.get(row.id);
        const contact = contacts.get(hits.find(({ personId }) => personId === row.id)?.contactId ?? "");
        const tie = ties.find(({ id }) => id === row.id);
        const own = person && reasonOf(person, row.name, words, account.templates.byId.peek());
        if (own) found.set(row.id, own);
        else if (tie && !isByName(row, words)) found.set(row.id, { label: null, parts: excerpt(t("{type} of {name}", { type: tie.label, name: tie.name }), folded) });
        else if (contact && !isByName(row, words)) found.set(row.id, { label: t("Logged"), parts: contactParts(contact, words) });
      }
      if (isWanted) setReasons({ words, of: found });
    })();
    return () => {
      isWanted = false;
    };
  }, [ids.join(), words, hits, ties]);
  return reasons.words === words ? reasons.of : new Map();
}

function contactParts({ title, notes }: Records["interaction"], words: string): Part[] {
  return excerpt([title, notes].filter(Boolean).join(" · "), fold(words).split(" "));
}
