// A whole family on one sheet, to read and to print: who is who, how to reach each, and their days.
import { useEffect, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { useChanges, useRecord } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { breakable } from "../../ui/breakable.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { dateInWords, type ImportantDate, occasion } from "./dates.ts";
import { mailUrl } from "../people/reach.ts";
import { addressInWords, type Entry, type Person, telUrl } from "./entries.ts";
import { PersonGone } from "./PersonGone.tsx";
import "./person.css";

const FAMILY_TYPES = new Set(["PARENT", "CHILD", "SIBLING", "SPOUSE", "PARTNER", "RELATIVE"]);
const MAX_STEPS = 2; // grandparents, nephews, parents-in-law
const MAX_PEOPLE = 40;

interface Member {
  person: Person;
  ties: string[]; // in words: what others of the sheet are to them
  dates: ImportantDate[];
}

export default function FamilyPage({ params }: { params: Record<string, string> }) {
  const record = useRecord("person", params["id"]!).value;
  if (record === undefined) return <div class="page" aria-busy="true" />;
  return record ? <Family id={record.id} /> : <PersonGone />;
}

function Family({ id }: { id: string }) {
  const account = useAccount();
  const [members, setMembers] = useState<Member[] | null>(null);
  // Read again when relationships change, such as while a new device is still reading them.
  const version = useChanges("relationship");
  useEffect(() => void readFamily(account, id).then(setMembers), [id, account.peopleVersion.value, version]);
  const name = account.person(id)?.name ?? "";
  return (
    <Page
      title={t("The family of {name}", { name })}
      back={`/people/${id}`}
      actions={
        <button onClick={() => print()}>
          <Icon name="print" size={18} />
          {t("Print")}
        </button>
      }
    >
      <ul class="family">
        {members?.map(({ person, ties, dates }) => {
          const shown = account.person(person.id)?.name ?? person.name;
          return (
            <li key={person.id} class="card stack tight">
              <div class="row">
                <Avatar person={{ id: person.id, name: shown, photo: person.photo }} />
                <h2>
                  <a href={href(`/people/${person.id}`)}>
                    <bdi>{shown}</bdi>
                  </a>
                </h2>
              </div>
              {ties.map((tie) => (
                <p class="soft small" key={tie}>
                  {tie}
                </p>
              ))}
              {person.phoneNumbers.map(({ id: entry, number }) => (
                <p key={entry}>
                  {telUrl(number) ? <a href={telUrl(number)!}>{number}</a> : number}
                </p>
              ))}
              {person.emails.map(({ id: entry, email }) => (
                <p key={entry}>
                  <a href={mailUrl(email)}>{breakable(email)}</a>
                </p>
              ))}
              {person.addresses.slice(0, 1).map((entry) => (
                <p key={entry.id}>{addressInWords(entry as Entry).join(", ")}</p>
              ))}
              {dates.map((date) => (
                <p key={date.id}>
                  {occasion(date)}: {dateInWords(date)}
                </p>
              ))}
            </li>
          );
        })}
      </ul>
    </Page>
  );
}

// The person first, then who is reached by family relationships, the nearest first.
async function readFamily(account: Account, start: string): Promise<Member[]> {
  const { copy, relationshipTypes } = account;
  const types = relationshipTypes.byId.peek();
  const steps = new Map([[start, 0]]);
  const ties = new Map<string, string[]>();
  for (const [id, step] of steps) {
    const rows = await copy.of("relationship", id);
    for (const row of rows) {
      const type = types.get(row.relationshipTypeId ?? "");
      if (!type || !FAMILY_TYPES.has(type.name)) continue;
      const tie = t("{type} of {name}", { type: type.label, name: account.person(row.relatedPersonId)?.name ?? row.relatedPerson.name });
      ties.set(id, [...(ties.get(id) ?? []), tie]);
      // A map goes on with what is added to it.
      if (step < MAX_STEPS && !steps.has(row.relatedPersonId) && steps.size < MAX_PEOPLE) steps.set(row.relatedPersonId, step + 1);
    }
  }
  const people = await copy.many("person", [...steps.keys()]);
  return Promise.all(
    [...people.values()].map(async (each) => ({ person: each, ties: ties.get(each.id) ?? [], dates: await copy.of("importantDate", each.id) })),
  );
}
