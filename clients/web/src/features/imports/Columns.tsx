// How the columns of a table are understood. What is not, or not rightly, the user says: "this column is the phone".
import { useState } from "preact/hooks";
import { connection } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { SelectField } from "../../ui/Field.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { describeField } from "../sync/describe.ts";
import { DETAIL_FIELDS, labelOf, NAME_FIELDS } from "../person/fields.ts";
import { typeLabel } from "../person/entries.ts";
import { change, type Chosen, formOf } from "./files.ts";

interface Column {
  name: string;
  samples: string[];
  proposal: string; // IGNORE where nothing is known of it
}

const SAMPLES = 3;
const IGNORE = "ignore";

export function Columns({ each }: { each: Chosen }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="other-kind" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("What its columns are")}</summary>
      {isOpen && <ColumnList each={each} />}
    </details>
  );
}

function ColumnList({ each }: { each: Chosen }) {
  const { id, encoding, dateOrder, mapping } = each;
  const [found, reload] = useRemote(`columns ${id} ${encoding} ${dateOrder}`, async (signal) => (await connection.ask("POST", "/api/import/csv/inspect", formOf({ ...each, mapping: {} }, {}), { signal }))["columns"] as Column[]);
  const { data, problem } = found.value;
  if (!data) return problem ? <ProblemNote problem={problem} onRetry={() => void reload()} /> : <p aria-busy="true" />;
  const known = targets();
  return (
    <div class="stack">
      {data.map(({ name, samples, proposal }, index) => {
        const key = String(index + 1);
        const value = mapping[key] ?? proposal;
        const options = known.some(([target]) => target === value) ? known : [...known, [value, wordsOf(value)] as const];
        return (
          <SelectField
            key={key}
            label={name || t("Column {number}", { number: key })}
            hint={samples.slice(0, SAMPLES).join(" · ")}
            value={value}
            options={options}
            onValue={(target) => void change(id, { mapping: { ...mapping, [key]: target } })}
          />
        );
      })}
    </div>
  );
}

// What a column can be, by the names of the API.
function targets(): (readonly [target: string, label: string])[] {
  const plain = [...NAME_FIELDS, ...DETAIL_FIELDS].map((field) => [field.name, labelOf(field)] as const);
  const entries = ["phone", "phone:mobile", "phone:home", "phone:work", "email", "email:home", "email:work", "address.street", "address.postalCode", "address.city", "address.region", "address.country", "url"];
  const others = [["birthday", t("Birthday")], ["notes", describeField("person", "notes")], ["group", t("Groups")], [IGNORE, t("nothing: leave it out")]] as const;
  return [...plain, ...entries.map((target) => [target, wordsOf(target)] as const), ...others];
}

// "Phone (work)"; what a newer service calls otherwise stays as it is.
function wordsOf(target: string): string {
  const [field, type] = target.split(":") as [string, string?];
  const words: Record<string, string> = {
    phone: t("Phone"),
    email: t("E-mail"),
    url: t("Web"),
    birthday: t("Birthday"),
    "address.street": t("Street"),
    "address.postalCode": t("Postal code"),
    "address.city": t("Town"),
    "address.region": t("Region"),
    "address.country": t("Country"),
  };
  const parts: Record<string, string> = { year: t("Year"), month: t("Month"), day: t("Day") };
  const name = words[field] ?? field;
  return type ? `${name} (${parts[type] ?? type.split(" ").map((each) => typeLabel(each)).join(", ")})` : name;
}
