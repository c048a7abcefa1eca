// The people around a person: a face, and above the name what that one is to the person.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRecordsOf } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { Lock } from "../sharing/Lock.tsx";
import type { Person } from "./entries.ts";
import RelationshipDialog, { type Relationship, typeOfOther } from "./RelationshipDialog.tsx";
import { partlyKnownDay } from "./dates.ts";
import { SectionHead } from "./SectionHead.tsx";

export function RelationshipsSection({ person, name, isAdding, onAdding }: { person: Person; name: string; isAdding: boolean; onAdding: (isAdding: boolean) => void }) {
  const account = useAccount();
  const [edited, setEdited] = useState<Relationship | null>(null);
  const rows = useRecordsOf("relationship", person.id).value ?? [];
  const types = account.relationshipTypes.byId.value;
  const around = rows.map((row) => ({
    row,
    other: account.person(row.relatedPersonId) ?? { id: row.relatedPersonId, name: row.relatedPerson.name, photo: null },
    label: typeOfOther(types.get(row.relationshipTypeId ?? "")),
  }));
  around.sort((one, other) => Number(Boolean(one.row.until)) - Number(Boolean(other.row.until)) || one.label.localeCompare(other.label) || one.other.name.localeCompare(other.other.name));
  const remove = (row: Relationship) => {
    void account.copy.delete("relationship", row.id);
    toast(t("The relationship is in the trash."), () => account.copy.restore("relationship", row.id, row));
  };
  const title = t("People around {name}", { name: person.nickname || person.name });
  return (
    <>
      {around.length > 0 && (
        <section class="section" id="person-around" aria-label={title}>
          <SectionHead title={title} letter="p">
            <Lock person={person} field="relationships" />
            <button class="plain icon no-print" onClick={() => onAdding(true)} aria-label={t("Add a relationship of {name}", { name })}>
              <Icon name="add" />
            </button>
          </SectionHead>
          <ul class="card around">
            {around.map(({ row, other, label }) => (
              <li key={row.id} class={row.until ? "past" : undefined}>
                <a class="around-link" href={href(`/people/${other.id}`)}>
                  <Avatar person={other} />
                  <span class="around-text">
                    <span class="around-type">{label}</span>
                    <strong dir="auto">{other.name}</strong>
                    {row.notes && (
                      <span class="soft small" dir="auto">
                        {row.notes}
                      </span>
                    )}
                  </span>
                  {(row.since || row.until) && <span class="soft since">{periodInWords(row)}</span>}
                </a>
                <Menu
                  class="plain icon no-print"
                  label={t("{type}: {name}", { type: label, name: other.name })}
                  items={[
                    { label: t("Edit"), onSelect: () => setEdited(row) },
                    { label: t("Delete"), isDanger: true, onSelect: () => remove(row) },
                  ]}
                >
                  <Icon name="more" />
                </Menu>
              </li>
            ))}
          </ul>
        </section>
      )}
      {isAdding && <RelationshipDialog personId={person.id} onClose={() => onAdding(false)} />}
      {edited && <RelationshipDialog personId={person.id} row={edited} onClose={() => setEdited(null)} />}
    </>
  );
}

function periodInWords({ since, until }: Relationship): string {
  if (since && until) return t("from {since} until {until}", { since: partlyKnownDay(since), until: partlyKnownDay(until) });
  return since ? t("since {when}", { when: partlyKnownDay(since) }) : t("until {when}", { when: partlyKnownDay(until!) });
}
