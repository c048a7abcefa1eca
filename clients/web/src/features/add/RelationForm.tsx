// Who is what of whom, by a form.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { SelectField } from "../../ui/Field.tsx";
import { toast } from "../../ui/toast.tsx";
import { PersonPicker } from "../people/PersonPicker.tsx";

export function RelationForm({ personId, onClose }: { personId: string | null; onClose: () => void }) {
  const account = useAccount();
  const types = account.relationshipTypes.all.sort((one, other) => one.label.localeCompare(other.label));
  const [ids, setIds] = useState<string[]>(personId ? [personId] : []);
  const [otherIds, setOtherIds] = useState<string[]>([]);
  const [typeId, setTypeId] = useState(types[0]?.id ?? "");
  const [[id], [otherId]] = [ids, otherIds];
  const isReady = id !== undefined && otherId !== undefined && id !== otherId;
  const type = account.relationshipTypes.byId.value.get(typeId);
  const name = account.person(id ?? "")?.name ?? "…";
  const other = account.person(otherId ?? "")?.name ?? "…";
  const save = async () => {
    if (!isReady) return;
    const made = await account.copy.create("relationship", { personId: id, relatedPersonId: otherId, relationshipTypeId: typeId || null });
    toast(t("{name} is {type} of {other}.", { name, type: type?.label ?? "", other }), () => account.copy.delete("relationship", made));
    onClose();
  };
  return (
    <Dialog
      title={t("A relationship")}
      onClose={onClose}
      keepsOpen={otherIds.length > 0}
      onSubmit={() => void save()}
      footer={
        <>
          <button type="button" onClick={onClose}>{t("Cancel")}</button>
          <button class="main" disabled={!isReady}>{t("Save")}</button>
        </>
      }
    >
      <PersonPicker label={t("Who")} ids={ids} onIds={(chosen) => setIds(chosen.slice(-1))} excluded={otherIds} />
      <SelectField label={t("Is what")} value={typeId} onValue={setTypeId} options={types.map((each) => [each.id, each.label] as const)} />
      <PersonPicker label={t("Of whom")} ids={otherIds} onIds={(chosen) => setOtherIds(chosen.slice(-1))} excluded={ids} />
      {isReady && type && <p class="banner">{t("{name} is {type} of {other}.", { name, type: type.label, other })}</p>}
    </Dialog>
  );
}
