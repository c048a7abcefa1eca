// The sections of a person that are edited: what a form shows of each, and what is sent of its values. One section is a form
// by itself, and all of them are the form of the whole person.
import type { ComponentChildren } from "preact";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { AreaField, SelectField } from "../../ui/Field.tsx";
import type { Form } from "../../ui/form.ts";
import { intervalLabel, intervals } from "../people/intervals.ts";
import { CONTACT_FIELDS, ContactForm, type ContactValues, filledEntries } from "./ContactForm.tsx";
import { CustomValues, type CustomValue } from "./CustomValues.tsx";
import type { Entry, ListField, Person } from "./entries.ts";
import { DETAIL_FIELDS, NAME_FIELDS, pickPlain, type PlainField, type PlainValues, toSent } from "./fields.ts";
import { GroupsForm } from "./GroupsSection.tsx";
import { PlainFields } from "./PlainFields.tsx";

type Values = Record<string, unknown>;

export interface FieldsProps {
  form: Form<Values>;
  person: Person;
  name: string; // as it is shown
}

export interface EditedSection {
  letter: string; // after `e`
  title: () => string;
  pick: (person: Person) => Values;
  // What is sent of the changed values; unless it is said, the values are the fields.
  toSent?: (changes: Values) => Values;
  // What is wrong with the values, by the names of inputs; not with what was there before.
  check?: (values: Values, seen: Values) => Record<string, string>;
  Fields: (props: FieldsProps) => ComponentChildren;
}

export type SectionName = "name" | "relation" | "contact" | "groups" | "notes" | "details" | "reminder";

const NOTES_LIMIT = 10_000;

export const SECTIONS: Record<SectionName, EditedSection> = {
  name: {
    letter: "n",
    title: () => t("Name"),
    pick: (person) => pickPlain(NAME_FIELDS, person),
    toSent: (changes) => plainSent(NAME_FIELDS, changes),
    check: ({ name }) => (String(name ?? "").trim() ? {} : { name: t("A given name is needed.") }),
    Fields: ({ form }) => <PlainFields fields={NAME_FIELDS} form={form} />,
  },
  contact: {
    letter: "r",
    title: () => t("Reach"),
    pick: (person) => ({ ...Object.fromEntries(CONTACT_FIELDS.map((field) => [field, person[field]])), movers: {} }),
    toSent: (changes) =>
      Object.fromEntries(Object.entries(changes).filter(([field]) => isList(field)).map(([field, entries]) => [field, filledEntries(field as ListField, entries as Entry[])])),
    check: (values, seen) => {
      const known = new Set((seen["emails"] as Entry[]).map(({ email }) => email));
      return Object.fromEntries(
        (values["emails"] as Entry[]).flatMap(({ email }, index) => {
          const wrong = known.has(email) ? null : mailProblem(String(email ?? "").trim());
          return wrong ? [[`emails.${index}.email`, wrong]] : [];
        }),
      );
    },
    Fields: ({ form, person }) => <ContactForm form={form as unknown as Form<ContactValues>} personId={person.id} />,
  },
  groups: {
    letter: "g",
    title: () => t("Groups"),
    pick: ({ groupIds }) => ({ groupIds }),
    Fields: ({ form }) => <GroupsForm groupIds={form.values.value["groupIds"] as string[]} onGroups={(ids) => form.set("groupIds", ids)} />,
  },
  relation: {
    letter: "y",
    title: () => t("Relationship to you"),
    pick: ({ relationshipToUserId }) => ({ relationshipToUserId: relationshipToUserId ?? "" }),
    toSent: nullForEmpty,
    Fields: RelationFields,
  },
  details: {
    letter: "a",
    title: () => t("About|a person"),
    pick: (person) => ({ ...pickPlain(DETAIL_FIELDS, person), customFieldValues: person.customFieldValues.map(({ templateId, value }) => ({ templateId, value })) }),
    toSent: (changes) => ({ ...plainSent(DETAIL_FIELDS, changes), ...("customFieldValues" in changes && { customFieldValues: changes["customFieldValues"] }) }),
    Fields: ({ form }) => (
      <>
        <PlainFields fields={DETAIL_FIELDS} form={form} />
        <CustomValues values={form.values.value["customFieldValues"] as CustomValue[]} onValues={(values) => form.set("customFieldValues", values)} />
      </>
    ),
  },
  notes: {
    letter: "o",
    title: () => t("Notes"),
    pick: ({ notes }) => ({ notes: notes ?? "" }),
    toSent: nullForEmpty,
    Fields: ({ form }) => (
      <AreaField
        label={t("Notes")}
        rows={8}
        maxLength={NOTES_LIMIT}
        value={form.values.value["notes"] as string}
        onValue={(notes) => form.set("notes", notes)}
        hint={t("Markdown: *italic*, **bold**, lists with -, links.")}
      />
    ),
  },
  reminder: {
    letter: "k",
    title: () => t("Getting in touch"),
    pick: pickReminder,
    toSent: ({ every }) => (every === undefined ? {} : reminderSent(String(every))),
    Fields: ({ form }) => (
      <SelectField
        label={t("Remind me")}
        value={form.values.value["every"] as string}
        onValue={(every) => form.set("every", every)}
        options={withCurrent(form.values.value["every"] as string)}
      />
    ),
  },
};
export const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[];

function RelationFields({ form, name }: FieldsProps) {
  const { relationshipTypes } = useAccount();
  const types = relationshipTypes.all.map(({ id, label }) => [id, label] as const).sort(([, one], [, other]) => one.localeCompare(other));
  return (
    <SelectField
      label={t("What {name} is to you", { name })}
      value={form.values.value["relationshipToUserId"] as string}
      onValue={(id) => form.set("relationshipToUserId", id)}
      options={[["", t("Nothing|no relationship")], ...types]}
    />
  );
}

function isList(field: string): field is ListField {
  return (CONTACT_FIELDS as string[]).includes(field);
}

// What is wrong with an address of mail, in words; the service decides about the rest.
export function mailProblem(email: string): string | null {
  if (!email) return null;
  const [before, after, ...more] = email.split("@");
  if (after === undefined) return t("An address of mail has an @.");
  if (more.length || /\s/.test(email)) return t("This is no address of mail.");
  if (!before) return t("Something is missing before the @.");
  return /^[^.].*[^.]$/.test(after) && after.includes(".") ? null : t("Something is missing after the @.");
}

function plainSent(fields: readonly PlainField[], changes: Values): Values {
  return Object.fromEntries(fields.filter(({ name }) => name in changes).map((field) => [field.name, toSent(field, (changes as PlainValues)[field.name]!)]));
}

function nullForEmpty(changes: Values): Values {
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value === "" ? null : value]));
}

function pickReminder({ contactReminderEnabled, contactReminderInterval, contactReminderIntervalUnit }: Person): Values {
  return { every: contactReminderEnabled ? `${contactReminderInterval} ${contactReminderIntervalUnit}` : "never" };
}

function reminderSent(every: string): Values {
  const [interval, unit] = every.split(" ");
  if (!unit) return { contactReminderEnabled: false };
  return { contactReminderEnabled: true, contactReminderInterval: Number(interval), contactReminderIntervalUnit: unit };
}

// An interval that is none of the usual ones, such as one of an import, stays a choice.
function withCurrent(every: string): [string, string][] {
  const known = intervals();
  if (known.some(([value]) => value === every)) return known;
  const [interval = "1", unit = "MONTHS"] = every.split(" ");
  return [...known, [every, intervalLabel(Number(interval), unit)]];
}
