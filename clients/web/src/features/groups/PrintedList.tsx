// All people of a group on paper, with how to reach them. It asks to be printed when it is read.
import { useEffect, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import type { PersonRow } from "../../store/people.ts";
import { addressInWords, type Entry, type Person } from "../person/entries.ts";

export function PrintedList({ members, onDone }: { members: PersonRow[]; onDone: () => void }) {
  const { copy } = useAccount();
  const [people, setPeople] = useState<Map<string, Person> | null>(null);
  useEffect(() => {
    void copy.many("person", members.map(({ id }) => id)).then(setPeople);
  }, []);
  useEffect(() => {
    if (!people) return;
    addEventListener("afterprint", onDone, { once: true });
    print();
    return () => removeEventListener("afterprint", onDone);
  }, [people]);
  return (
    <ul class="print-only plain-lines">
      {members.map(({ id, name }) => (
        <li key={id}>
          <strong>
            <bdi>{name}</bdi>
          </strong>{" "}
          {reach(people?.get(id))}
        </li>
      ))}
    </ul>
  );
}

function reach(person: Person | undefined): string {
  if (!person) return "";
  const addresses = person.addresses.map((entry) => addressInWords(entry as Entry).join(", "));
  return [...person.phoneNumbers.map(({ number }) => number), ...person.emails.map(({ email }) => email), ...addresses].join(" · ");
}
