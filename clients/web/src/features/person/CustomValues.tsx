// The account's custom fields in the form of a person, each by its type.
import type { Records } from "contacts-client";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { SelectField, TextField } from "../../ui/Field.tsx";

export type CustomValue = { templateId: string; value: string | number | boolean | null };

export function CustomValues({ values, onValues }: { values: CustomValue[]; onValues: (values: CustomValue[]) => void }) {
  const { templates } = useAccount();
  const sorted = templates.all.sort((one, other) => one.order - other.order);
  const set = (templateId: string, value: CustomValue["value"]) => {
    const others = values.filter((each) => each.templateId !== templateId);
    onValues(value === null || value === "" ? others : [...others, { templateId, value }]);
  };
  return (
    <>
      {sorted.map((template) => (
        <CustomField key={template.id} template={template} value={values.find(({ templateId }) => templateId === template.id)?.value ?? null} onValue={(value) => set(template.id, value)} />
      ))}
    </>
  );
}

interface Props {
  template: Records["customFieldTemplate"];
  value: CustomValue["value"];
  onValue: (value: CustomValue["value"]) => void;
}

function CustomField({ template: { name, type, options }, value, onValue }: Props) {
  const text = value === null ? "" : String(value);
  switch (type) {
    case "BOOLEAN":
      return <SelectField label={name} value={text} onValue={(chosen) => onValue(chosen === "" ? null : chosen === "true")} options={[["", "–"], ["true", t("Yes")], ["false", t("No")]]} />;
    case "SELECT":
      return <SelectField label={name} value={text} onValue={(chosen) => onValue(chosen || null)} options={[["", "–"], ...[...new Set([...options, ...(text ? [text] : [])])].map((option) => [option, option] as const)]} />;
    case "NUMBER":
      return <TextField label={name} type="number" inputMode="decimal" value={text} onValue={(typed) => onValue(typed === "" || Number.isNaN(Number(typed)) ? null : Number(typed))} />;
    default:
      return <TextField label={name} maxLength={2000} value={text} onValue={(typed) => onValue(typed || null)} />;
  }
}
