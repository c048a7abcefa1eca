// Inputs for plain fields, by the kinds of the table.
import { AreaField, Check, TextField } from "../../ui/Field.tsx";
import type { Form } from "../../ui/form.ts";
import { labelOf, type PlainField } from "./fields.ts";

const MAX_LINE = 500; // characters; what may be longer is an area

interface Props {
  fields: readonly PlainField[];
  form: Form<Record<string, unknown>>;
}

export function PlainFields({ fields, form }: Props) {
  return (
    <div class="columns">
      {fields.map((field) => (
        <PlainInput key={field.name} field={field} form={form} />
      ))}
    </div>
  );
}

function PlainInput({ field, form }: { field: PlainField; form: Form<Record<string, unknown>> }) {
  const { name, kind, limit, group } = field;
  const value = form.values.value[name];
  const label = labelOf(field);
  const set = (typed: unknown) => form.set(name, typed);
  if (kind === "flag") return <Check label={label} isChecked={Boolean(value)} onChange={set} />;
  const shared = { label, value: String(value ?? ""), onValue: set, error: form.errors.value[name] };
  if (kind === "date") return <TextField {...shared} type="date" name={name} />;
  if (kind === "integer") return <TextField {...shared} type="number" inputMode="numeric" name={name} {...(limit && { max: String(limit) })} />;
  const length = limit ? { maxLength: limit } : {};
  if (limit && limit > MAX_LINE) return <AreaField {...shared} {...length} />;
  return <TextField {...shared} {...length} name={name} autocomplete="off" required={name === "name"} {...(group === "name" && { autocapitalize: "words" })} />;
}
