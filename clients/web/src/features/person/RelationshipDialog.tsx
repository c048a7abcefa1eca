// Adds or changes a relationship: of whom, who the other one is, and what to the person.
import type { Records } from "contacts-client";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRecord } from "../../store/records.ts";
import { saveEdit } from "../../store/save.ts";
import { SelectField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { SaveDialog } from "../../ui/SaveDialog.tsx";
import { toast } from "../../ui/toast.tsx";
import { createNewPeople, nameOfPicked } from "../people/newPeople.ts";
import { PersonPicker } from "../people/PersonPicker.tsx";
import "./person.css";

export type Relationship = Records["relationship"];
type RelationshipType = Records["relationshipType"];

// What the other one is, if the person is this.
export function typeOfOther(type: RelationshipType | undefined): string {
  return (type?.symmetric ? type.label : type?.inverse?.label) ?? t("Connected");
}

interface Values {
  whose: string[]; // the person
  ids: string[]; // of the other
  typeId: string; // what the other is
  since: string;
  until: string;
  notes: string;
}

const PARTLY_KNOWN = /^(\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?)?$/;

interface Props {
  personId: string | null; // null: it is asked
  otherId?: string | null; // of a new one, where it is known
  row?: Relationship | null; // null: a new one
  onClose: () => void;
}

export default function RelationshipDialog({ personId, otherId: knownId = null, row = null, onClose }: Props) {
  const account = useAccount();
  const { byId } = account.relationshipTypes;
  const types = account.relationshipTypes.all.sort((one, other) => one.label.localeCompare(other.label));
  const current = byId.value.get(row?.relationshipTypeId ?? "");
  const form = useForm<Values>(`${account.id} relationship ${row?.id ?? `new ${[personId, knownId].filter(Boolean).join(" ")}`}`, () => ({
    whose: personId ? [personId] : [],
    ids: row ? [row.relatedPersonId] : knownId ? [knownId] : [],
    typeId: current ? ((current.symmetric ? current.id : current.inverseId) ?? "") : row ? "" : (types[0]?.id ?? ""),
    since: row?.since ?? "",
    until: row?.until ?? "",
    notes: row?.notes ?? "",
  }), row);
  const now = useRecord("relationship", row?.id ?? "").value;
  const { whose, ids, typeId, since, until, notes } = form.values.value;
  const [[id], [otherId]] = [whose, ids];
  const name = (id && nameOfPicked(account, id)) ?? "";
  const other = otherId && (nameOfPicked(account, otherId) ?? row?.relatedPerson.name);
  const type = byId.value.get(typeId); // what the other is
  // A row says what its first person is. The type without another side can be said from the other's side alone.
  const mine = type && (type.symmetric ? type.id : type.inverseId);
  const typed = ({ since: from, until: to, notes: words }: Values) => ({ since: from || null, until: to || null, notes: words.trim() || null });
  const save = async () => {
    if (row) {
      const toRecord = (values: Values) => {
        const chosen = byId.value.get(values.typeId);
        return { relationshipTypeId: (chosen?.symmetric ? chosen.id : chosen?.inverseId) ?? row.relationshipTypeId, ...typed(values) };
      };
      return saveEdit(account.copy, "relationship", row, form.edit(toRecord));
    }
    const [one, made] = await createNewPeople(account, [...whose, ...ids]);
    const ends = mine || !type ? { personId: one!, relatedPersonId: made!, relationshipTypeId: mine ?? null } : { personId: made!, relatedPersonId: one!, relationshipTypeId: type.id };
    const created = await account.copy.create("relationship", { ...ends, ...typed(form.values.value) });
    toast(t("{name} is {type} of {other}.", { name: other ?? "", type: type?.label ?? t("Connected"), other: name }), () => account.copy.delete("relationship", created));
  };
  const wrong = (text: string) => (PARTLY_KNOWN.test(text.trim()) ? undefined : t("A year, a month or a day: 2015, 2015-06 or 2015-06-20."));
  const offered = types.filter((each) => !row || each.symmetric || each.inverseId);
  return (
    <SaveDialog
      title={name ? t("A relationship of {name}", { name }) : t("A relationship")}
      form={form}
      isReady={Boolean(id && otherId) && !wrong(since) && !wrong(until)}
      isGone={row !== null && now === null}
      onSave={save}
      onClose={onClose}
    >
      {!personId && <PersonPicker label={t("Of whom")} ids={whose} onIds={(chosen) => form.set("whose", chosen.slice(-1))} excluded={ids} autoFocus withNew />}
      {!row && !knownId && <PersonPicker label={t("With whom")} ids={ids} onIds={(chosen) => form.set("ids", chosen.slice(-1))} excluded={whose} autoFocus={personId !== null} withNew />}
      <SelectField
        label={other ? t("{name} is", { name: other }) : t("What that one is")}
        value={typeId}
        onValue={(id) => form.set("typeId", id)}
        options={[...(row && !mine ? [["", t("Connected")] as const] : []), ...offered.map(({ id, label }) => [id, label] as const)]}
      />
      {name && other && type && (
        <p class="banner">
          {t("{name} is {type} of {other}.", { name: other, type: type.label, other: name })} {t("{name} is {type} of {other}.", { name, type: typeOfOther(type), other })}
        </p>
      )}
      <div class="columns">
        <TextField label={t("Since")} inputMode="numeric" maxLength={10} autocomplete="off" placeholder="2015" value={since} error={wrong(since)} onValue={(typedText) => form.set("since", typedText)} />
        <TextField label={t("Until")} inputMode="numeric" maxLength={10} autocomplete="off" value={until} error={wrong(until)} onValue={(typedText) => form.set("until", typedText)} />
      </div>
      <TextField label={t("Notes")} maxLength={2000} value={notes} onValue={(typedText) => form.set("notes", typedText)} />
    </SaveDialog>
  );
}
