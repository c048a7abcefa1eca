// Name, description, colour and rule of a group. The values are a draft until they are saved.
import type { Records } from "contacts-client";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { saveEdit } from "../../store/save.ts";
import { announce } from "../../ui/announce.ts";
import { AreaField, Field, SelectField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { intervalLabel, intervals } from "../people/intervals.ts";
import "../person/person.css";

export type Group = Records["group"];

export function groupDraftKey(accountId: string, groupId: string): string {
  return `${accountId} group ${groupId}`;
}

const NO_RULE = "never";
const asText = ({ contactReminder }: Group) => (contactReminder ? `${contactReminder.interval} ${contactReminder.unit}` : NO_RULE);

export function GroupForm({ group, onDone }: { group: Group; onDone: () => void }) {
  const { copy, id: accountId, groups } = useAccount();
  const form = useForm(groupDraftKey(accountId, group.id), () => ({
    name: group.name,
    description: group.description ?? "",
    color: group.color,
    every: asText(group),
    leadDays: group.leadDays === null ? "" : String(group.leadDays),
  }), group);
  const values = form.values.value;
  const name = values.name.trim();
  const isTaken = groups.all.some((other) => other.id !== group.id && other.name.toLowerCase() === name.toLowerCase());
  const known = intervals().slice(1);
  const every: [string, string][] = [[NO_RULE, t("No rule")], ...known];
  if (!every.some(([value]) => value === values.every)) {
    const [interval, unit] = values.every.split(" ");
    every.push([values.every, intervalLabel(Number(interval), unit!)]);
  }
  const toRecord = ({ name, description, color, every, leadDays }: typeof values) => {
    const [interval, unit] = every.split(" ");
    return {
      name: name.trim(),
      description: description.trim() || null,
      color,
      contactReminder: every === NO_RULE ? null : { interval: Number(interval), unit: unit as "MONTHS" },
      leadDays: leadDays === "" ? null : Number(leadDays),
    };
  };
  const save = async (event: Event) => {
    event.preventDefault();
    if (!name || isTaken) return;
    const edit = form.edit(toRecord);
    await saveEdit(copy, "group", group, edit);
    if (Object.keys(edit.changes).length) announce(t("Saved here"));
    form.end();
    onDone();
  };
  return (
    <form class="card stack" onSubmit={save}>
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      <TextField label={t("Name of the group")} value={values.name} maxLength={100} required autoFocus onValue={(value) => form.set("name", value)} error={isTaken ? t("There is a group of this name.") : undefined} />
      <AreaField label={t("Description")} value={values.description} maxLength={500} rows={2} onValue={(value) => form.set("description", value)} />
      <Field label={t("Colour")}>{(attributes) => <input {...attributes} type="color" class="colour" value={values.color} onInput={({ currentTarget }) => form.set("color", currentTarget.value)} />}</Field>
      <SelectField label={t("Remind me to get in touch with whoever joins")} value={values.every} options={every} onValue={(value) => form.set("every", value)} />
      <TextField label={t("Days of advance notice of their dates")} type="number" inputMode="numeric" min="0" max="365" value={values.leadDays} onValue={(value) => form.set("leadDays", value)} hint={t("Empty: as in your preferences.")} />
      <div class="form-actions">
        <button
          type="button"
          onClick={() => {
            form.end();
            onDone();
          }}
        >
          {t("Cancel")}
        </button>
        <button class="main" disabled={!name || isTaken}>
          {t("Save")}
        </button>
      </div>
    </form>
  );
}
