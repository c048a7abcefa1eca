// A new tie between two people: drawn in the picture, or begun in the inspector.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { SelectField } from "../../ui/Field.tsx";
import { toast } from "../../ui/toast.tsx";
import { PersonPicker } from "../people/PersonPicker.tsx";

export interface NewTie {
  from: string;
  to: string | null; // chosen in the dialog
}

export function TieDialog({ tie, onClose }: { tie: NewTie; onClose: () => void }) {
  const account = useAccount();
  const types = account.relationshipTypes.all.sort((one, other) => one.label.localeCompare(other.label));
  const [others, setOthers] = useState<string[]>(tie.to ? [tie.to] : []);
  const [typeId, setTypeId] = useState(types[0]?.id ?? "");
  const nameOf = (id: string | undefined) => (id && account.person(id)?.name) || "";
  const [other] = others;
  const save = async () => {
    if (!other) return;
    const id = await account.copy.create("relationship", { personId: tie.from, relatedPersonId: other, relationshipTypeId: typeId || null });
    onClose();
    toast(t("{name} and {other} are tied.", { name: nameOf(tie.from), other: nameOf(other) }), () => account.copy.delete("relationship", id));
  };
  return (
    <Dialog
      title={t("A new tie")}
      onClose={onClose}
      keepsOpen={others.length > 0}
      onSubmit={() => void save()}
      footer={
        <>
          <button type="button" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button class="main" disabled={!other}>
            {t("Save")}
          </button>
        </>
      }
    >
      {tie.to ? null : <PersonPicker label={t("With whom")} ids={others} onIds={(ids) => setOthers(ids.slice(-1))} excluded={[tie.from]} autoFocus />}
      <SelectField
        label={other ? t("{name} is to {other}", { name: nameOf(tie.from), other: nameOf(other) }) : t("{name} is", { name: nameOf(tie.from) })}
        value={typeId}
        onValue={setTypeId}
        options={types.map(({ id, label }) => [id, label] as const)}
      />
    </Dialog>
  );
}
