// Relationships as sentences that say who is what.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRecordsOf } from "../../store/records.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { SelectField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { toast } from "../../ui/toast.tsx";
import { PersonPicker } from "../people/PersonPicker.tsx";
import type { Person } from "./entries.ts";

export function RelationshipsSection({ person, name }: { person: Person; name: string }) {
  const account = useAccount();
  const [isAdding, setAdding] = useState(false);
  const rows = useRecordsOf("relationship", person.id).value ?? [];
  const types = account.relationshipTypes.byId.value;
  const sentences = rows.map((row) => {
    const other = account.person(row.relatedPersonId)?.name || row.relatedPerson.name;
    const type = types.get(row.relationshipTypeId ?? "");
    return { row, other, label: type?.label ?? t("Connected") };
  });
  sentences.sort((one, other) => one.label.localeCompare(other.label) || one.other.localeCompare(other.other));
  return (
    <section class="card stack tight" aria-label={t("Relationships")}>
      <div class="row apart">
        <h2>{t("Relationships")}</h2>
        <button class="plain icon no-print" onClick={() => setAdding(true)} aria-label={t("Add a relationship of {name}", { name })}>
          <Icon name="add" />
        </button>
      </div>
      {sentences.length > 0 && (
        <ul class="lines">
          {sentences.map(({ row, other, label }) => (
            <li key={row.id} class="row apart">
              <span>
                {t("{name} is {type} of", { name, type: label })}{" "}
                <a href={href(`/people/${row.relatedPersonId}`)}>
                  <bdi>{other}</bdi>
                </a>
                {row.notes && <span class="soft small"> · {row.notes}</span>}
              </span>
              <button
                class="plain icon no-print"
                aria-label={t("Remove: {name} is {type} of {other}", { name, type: label, other })}
                onClick={() => {
                  void account.copy.delete("relationship", row.id);
                  toast(t("The relationship is in the trash."), () => account.copy.restore("relationship", row.id, row));
                }}
              >
                <Icon name="trash" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {isAdding && <NewRelationship person={person} name={name} onClose={() => setAdding(false)} />}
    </section>
  );
}

function NewRelationship({ person, name, onClose }: { person: Person; name: string; onClose: () => void }) {
  const account = useAccount();
  const types = account.relationshipTypes.all.sort((one, other) => one.label.localeCompare(other.label));
  const [otherIds, setOtherIds] = useState<string[]>([]);
  const [typeId, setTypeId] = useState(types[0]?.id ?? "");
  const type = account.relationshipTypes.byId.value.get(typeId);
  const [otherId] = otherIds;
  const other = otherId ? account.person(otherId)?.name : undefined;
  const save = async () => {
    if (!otherId) return;
    await account.copy.create("relationship", { personId: person.id, relatedPersonId: otherId, relationshipTypeId: typeId || null });
    onClose();
  };
  return (
    <Dialog
      title={t("A relationship of {name}", { name })}
      onClose={onClose}
      keepsOpen={otherIds.length > 0}
      onSubmit={() => void save()}
      footer={
        <>
          <button type="button" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button class="main" disabled={!otherId}>
            {t("Save")}
          </button>
        </>
      }
    >
      <PersonPicker label={t("With whom")} ids={otherIds} onIds={(ids) => setOtherIds(ids.slice(-1))} excluded={[person.id]} />
      <SelectField label={t("{name} is", { name })} value={typeId} onValue={setTypeId} options={types.map(({ id, label }) => [id, label] as const)} />
      {other && type && (
        <p class="banner">
          {t("{name} is {type} of {other}.", { name, type: type.label, other })}{" "}
          {t("{name} is {type} of {other}.", { name: other, type: type.symmetric ? type.label : (type.inverse?.label ?? t("Connected")), other: name })}
        </p>
      )}
    </Dialog>
  );
}
