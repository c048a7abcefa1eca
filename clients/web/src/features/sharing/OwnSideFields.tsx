// What a member decides about the own side, in the forms of making and of joining.
import { t } from "../../i18n/index.ts";
import { Check, SelectField } from "../../ui/Field.tsx";
import { PRIVATE_FIELDS, type PrivateField, reminderChoices, type Reminders } from "./shares.ts";

export interface OwnSide {
  private: PrivateField[];
  reminders: Reminders;
}

export function OwnSideFields({ value, onValue }: { value: OwnSide; onValue: (value: OwnSide) => void }) {
  const lock = (field: PrivateField, isClosed: boolean) => onValue({ ...value, private: isClosed ? [...value.private, field] : value.private.filter((each) => each !== field) });
  return (
    <>
      <fieldset class="group-choice share-private">
        <legend>{t("What stays with you")}</legend>
        <ul>
          {PRIVATE_FIELDS.map(({ field, label }) => (
            <li key={field}>
              <Check label={t(label)} isChecked={value.private.includes(field)} onChange={(isClosed) => lock(field, isClosed)} />
            </li>
          ))}
        </ul>
        <p class="soft small">{t("Reminders, groups and what you log always stay with you.")}</p>
      </fieldset>
      <SelectField label={t("Reminders of days that come")} value={value.reminders} options={reminderChoices()} onValue={(reminders) => onValue({ ...value, reminders: reminders as Reminders })} />
    </>
  );
}
