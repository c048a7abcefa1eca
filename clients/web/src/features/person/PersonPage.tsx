// A page to read: only what is filled. One tap turns a section into its form, "Add" offers the rest.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { href, navigate, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { daysBetween, daysFromNow, formatDay, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useRecord, useRecordsOf } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { AreaField, SelectField, TextField } from "../../ui/Field.tsx";
import { type Form, hasDraft } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { Page } from "../../ui/Page.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { PhotoPicker } from "../../ui/PhotoPicker.tsx";
import { toast } from "../../ui/toast.tsx";
import { deletePeople } from "../people/actions.ts";
import { intervalLabel, intervals } from "../people/intervals.ts";
import { CONTACT_FIELDS, ContactForm, ContactSection, filledEntries } from "./ContactSection.tsx";
import { CustomValues, type CustomValue } from "./CustomValues.tsx";
import { DatesSection } from "./DatesSection.tsx";
import type { Entry, ListField, Person } from "./entries.ts";
import { DETAIL_FIELDS, NAME_FIELDS } from "./fields.ts";
import { GroupsForm, GroupsSection } from "./GroupsSection.tsx";
import { setMe } from "./me.ts";
import { Notes } from "./Notes.tsx";
import { RelationshipsSection } from "./RelationshipsSection.tsx";
import { draftKey, SectionForm } from "./SectionForm.tsx";
import { askForShared } from "./sharedAddress.ts";
import { PersonGone } from "./PersonGone.tsx";
import { ShareDialog } from "./ShareDialog.tsx";
import { Timeline } from "./Timeline.tsx";
import "./person.css";

const SECTIONS = ["name", "relation", "contact", "groups", "notes", "details", "reminder"] as const;
type Section = (typeof SECTIONS)[number];

export default function PersonPage({ params }: { params: Record<string, string> }) {
  const id = params["id"]!;
  const record = useRecord("person", id).value;
  if (record === undefined) return <div class="page" aria-busy="true" />;
  if (record === null) return <PersonGone />;
  return <OnePerson person={record} />;
}

function OnePerson({ person }: { person: Person }) {
  const account = useAccount();
  const name = account.person(person.id)?.name || person.name;
  const drafts = SECTIONS.filter((section) => hasDraft(draftKey(account.id, person.id, section)));
  // A section whose form was left with a draft is open again; a link may open one.
  const [open, setOpen] = useState<ReadonlySet<Section>>(new Set([...drafts, ...SECTIONS.filter((section) => section === place.value.query.get("edit"))]));
  const [isPicking, setPicking] = useState(false);
  const [isSharing, setSharing] = useState(false);
  const edit = (section: Section) => setOpen(new Set([...open, section]));
  const end = (section: Section) => setOpen(new Set([...open].filter((each) => each !== section)));
  useEffect(() => {
    if (place.value.query.has("edit")) setQuery({ edit: null });
    const reopen = () => setOpen(new Set(SECTIONS.filter((section) => hasDraft(draftKey(account.id, person.id, section)))));
    addEventListener("drafts", reopen);
    return () => removeEventListener("drafts", reopen);
  }, [person.id]);
  useKeys(
    [
      { key: "e", label: t("Edit the name"), act: () => edit("name") },
      { key: "l", label: t("Log a contact"), act: () => navigate(`/log?person=${person.id}`) },
    ],
    [person.id, open],
  );
  const savePhoto = async (picture: Blob | null) => {
    await account.copy.setPhoto(person.id, picture);
    setPicking(false);
    if (!picture) toast(t("The photo was removed."));
  };
  const remove = () => {
    void deletePeople(account, [person.id]);
    navigate("/people");
  };
  const isMe = account.meId === person.id;
  const hasContact = CONTACT_FIELDS.some((field) => person[field].length > 0);
  const hasDetails = DETAIL_FIELDS.some(({ name: field }) => person[field]) || person.customFieldValues.length + person.customFields.length + person.more.length > 0;
  const missing: [Section, string, boolean][] = [
    ["contact", t("Phone, e-mail, address"), hasContact],
    ["groups", t("Groups"), person.groupIds.length > 0],
    ["notes", t("Notes"), Boolean(person.notes)],
    ["details", t("Organization and more"), hasDetails],
    ["reminder", t("Remind me to get in touch"), person.contactReminderEnabled],
  ];
  return (
    <Page
      title={name}
      back="/people"
      heading={<bdi>{name}</bdi>}
      actions={
        <>
          <a class="button" href={href(`/log?person=${person.id}`)}>
            <Icon name="log" />
            {t("Log a contact")}
          </a>
          <Menu
            label={t("More about {name}", { name })}
            items={[
              { label: t("Edit the name"), onSelect: () => edit("name") },
              { label: t("Relationship to you"), onSelect: () => edit("relation") },
              { label: t("Photo"), onSelect: () => setPicking(true) },
              { label: person.favourite ? t("No longer a favourite") : t("Make a favourite"), onSelect: () => void account.copy.update("person", person.id, { favourite: !person.favourite }) },
              { label: person.quiet ? t("No longer quiet") : t("Make quiet: no reminders, not in lists of days"), onSelect: () => void account.copy.update("person", person.id, { quiet: !person.quiet }) },
              { label: isMe ? t("This is not me") : t("This is me"), onSelect: () => void setMe(account, isMe ? null : person.id) },
              { label: t("Share"), onSelect: () => setSharing(true) },
              { label: t("Their network"), onSelect: () => navigate(`/people/${person.id}/network`) },
              { label: t("The family on one sheet"), onSelect: () => navigate(`/people/${person.id}/family`) },
              { label: t("Print"), onSelect: () => print() },
              { label: t("Delete"), isDanger: true, onSelect: remove },
            ]}
          >
            <Icon name="more" />
          </Menu>
        </>
      }
    >
      <div class="person-head">
        <Avatar person={{ id: person.id, name, photo: person.photo }} size="large" alt={t("Photo of {name}", { name })} />
        <Summary person={person} />
      </div>
      {isPicking && <PhotoPicker hasPhoto={Boolean(person.photo)} name={name} save={savePhoto} />}
      {isSharing && <ShareDialog person={person} name={name} onClose={() => setSharing(false)} />}
      {open.has("name") && (
        <SectionForm person={person} section="name" pick={pickTexts(NAME_FIELDS)} toChanges={emptyToNull} onDone={() => end("name")}>
          {(form) => <PlainFields fields={NAME_FIELDS} form={form} />}
        </SectionForm>
      )}
      {open.has("relation") && (
        <SectionForm person={person} section="relation" pick={({ relationshipToUserId }) => ({ relationshipToUserId: relationshipToUserId ?? "" })} toChanges={emptyToNull} onDone={() => end("relation")}>
          {(form) => (
            <SelectField
              label={t("What {name} is to you", { name })}
              value={form.values.value.relationshipToUserId}
              onValue={(id) => form.set("relationshipToUserId", id)}
              options={[["", t("Nothing|no relationship")], ...account.relationshipTypes.all.map(({ id, label }) => [id, label] as const)]}
            />
          )}
        </SectionForm>
      )}
      <SectionCard title={t("Contact")} isShown={hasContact || open.has("contact")} isOpen={open.has("contact")} onEdit={() => edit("contact")} name={name}>
        {open.has("contact") ? (
          <SectionForm person={person} section="contact" pick={pickLists} toChanges={filled} beforeSave={(changes, seen) => askForShared(person.id, seen.addresses, changes.addresses)} onDone={() => end("contact")}>
            {(form) => <ContactForm form={form} />}
          </SectionForm>
        ) : (
          <ContactSection person={person} name={name} />
        )}
      </SectionCard>
      <DatesSection person={person} name={name} />
      <SectionCard title={t("Notes")} isShown={Boolean(person.notes) || open.has("notes")} isOpen={open.has("notes")} onEdit={() => edit("notes")} name={name}>
        {open.has("notes") ? (
          <SectionForm person={person} section="notes" pick={({ notes }) => ({ notes: notes ?? "" })} toChanges={emptyToNull} onDone={() => end("notes")}>
            {(form) => <AreaField label={t("Notes")} rows={8} maxLength={10_000} value={form.values.value.notes} onValue={(notes) => form.set("notes", notes)} hint={t("Markdown: *italic*, **bold**, lists with -, links.")} />}
          </SectionForm>
        ) : (
          <Notes text={person.notes ?? ""} />
        )}
      </SectionCard>
      <SectionCard title={t("Groups")} isShown={person.groupIds.length > 0 || open.has("groups")} isOpen={open.has("groups")} onEdit={() => edit("groups")} name={name}>
        {open.has("groups") ? (
          <SectionForm person={person} section="groups" pick={({ groupIds }) => ({ groupIds })} onDone={() => end("groups")}>
            {(form) => <GroupsForm groupIds={form.values.value.groupIds} onGroups={(ids) => form.set("groupIds", ids)} />}
          </SectionForm>
        ) : (
          <GroupsSection groupIds={person.groupIds} />
        )}
      </SectionCard>
      <RelationshipsSection person={person} name={name} />
      <SectionCard title={t("Details")} isShown={hasDetails || open.has("details")} isOpen={open.has("details")} onEdit={() => edit("details")} name={name}>
        {open.has("details") ? (
          <SectionForm person={person} section="details" pick={pickDetails} toChanges={emptyToNull} onDone={() => end("details")}>
            {(form) => (
              <>
                <PlainFields fields={DETAIL_FIELDS} form={form as unknown as Form<Texts>} />
                <CustomValues values={form.values.value.customFieldValues} onValues={(values) => form.set("customFieldValues", values)} />
              </>
            )}
          </SectionForm>
        ) : (
          <Details person={person} />
        )}
      </SectionCard>
      <SectionCard title={t("Getting in touch")} isShown={person.contactReminderEnabled || open.has("reminder")} isOpen={open.has("reminder")} onEdit={() => edit("reminder")} name={name}>
        {open.has("reminder") ? (
          <SectionForm person={person} section="reminder" pick={pickReminder} toChanges={toReminder} onDone={() => end("reminder")}>
            {(form) => (
              <div class="row">
                <SelectField
                  label={t("Remind me")}
                  value={form.values.value.every}
                  onValue={(every) => form.set("every", every)}
                  options={intervals()}
                />
              </div>
            )}
          </SectionForm>
        ) : (
          <p>{t("You are reminded if there was no contact: {interval}", { interval: intervalLabel(person.contactReminderInterval ?? 1, person.contactReminderIntervalUnit ?? "MONTHS") })}</p>
        )}
      </SectionCard>
      <Timeline person={person} name={name} />
      <div class="no-print row add-rest" role="group" aria-label={t("Add to {name}", { name })}>
        {missing
          .filter(([section, , isThere]) => !isThere && !open.has(section))
          .map(([section, label]) => (
            <button key={section} onClick={() => edit(section)}>
              <Icon name="add" />
              {label}
            </button>
          ))}
      </div>
    </Page>
  );
}

interface CardProps {
  title: string;
  name: string;
  isShown: boolean;
  isOpen: boolean;
  onEdit: () => void;
  children: ComponentChildren;
}

export function SectionCard({ title, name, isShown, isOpen, onEdit, children }: CardProps) {
  if (!isShown) return null;
  return (
    <section class="card stack tight" aria-label={title}>
      <div class="row apart">
        <h2>{title}</h2>
        {!isOpen && (
          <button class="plain icon no-print" onClick={onEdit} aria-label={t("Edit {section} of {name}", { section: title, name })}>
            <Icon name="edit" />
          </button>
        )}
      </div>
      {children}
    </section>
  );
}

function Summary({ person }: { person: Person }) {
  const { settings, relationshipTypes, meId } = useAccount();
  const now = today(settings.value.timezone);
  const work = [person.jobTitle, person.organization].filter(Boolean).join(", ");
  const type = relationshipTypes.byId.value.get(person.relationshipToUserId ?? "")?.label;
  const interactions = useRecordsOf("interaction", person.id).value;
  const last = person.lastContact;
  return (
    <div class="stack tight">
      {work && <p>{work}</p>}
      {meId === person.id && <p class="soft">{t("This is you.")}</p>}
      {type && <p class="soft">{t("To you: {type}", { type })}</p>}
      {person.deathday && <p class="soft">{t("Died on {day}", { day: formatDay(person.deathday, settings.value.dateFormat) })}</p>}
      {last && <p class="soft">{t("Last contact: {when}", { when: daysFromNow(daysBetween(now, last)) })}</p>}
      {!last && interactions?.length === 0 && !work && !type && <p class="soft">{t("No contact is logged yet.")}</p>}
    </div>
  );
}

function Details({ person }: { person: Person }) {
  const { templates, settings } = useAccount();
  const rows: [string, string][] = [];
  for (const { name, label } of DETAIL_FIELDS) {
    const value = person[name] as string | null;
    if (value) rows.push([t(label), name === "lastContact" || name === "deathday" ? formatDay(value, settings.value.dateFormat) : value]);
  }
  for (const { templateId, value } of person.customFieldValues) {
    const template = templates.byId.value.get(templateId);
    if (template) rows.push([template.name, typeof value === "boolean" ? (value ? t("Yes") : t("No")) : String(value)]);
  }
  for (const { key, value } of person.customFields) rows.push([key, value]);
  for (const { name, label, value } of person.more) rows.push([label ?? name, value]);
  return (
    <dl class="facts">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt class="soft small">{label}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

type Texts = Record<string, string>;

export function PlainFields({ fields, form }: { fields: typeof NAME_FIELDS; form: Form<Texts> }) {
  return (
    <>
      {fields.map(({ name, label, maxLength, attributes }) => (
        <TextField key={name} label={t(label)} name={name} maxLength={maxLength} value={form.values.value[name] ?? ""} onValue={(value) => form.set(name, value)} error={form.errors.value[name]} {...attributes} />
      ))}
    </>
  );
}

const pickTexts =
  (fields: typeof NAME_FIELDS) =>
  (person: Person): Texts =>
    Object.fromEntries(fields.map(({ name }) => [name, String(person[name] ?? "")]));

function pickDetails(person: Person): Record<string, unknown> & { customFieldValues: CustomValue[] } {
  const customFieldValues = person.customFieldValues.map(({ templateId, value }) => ({ templateId, value }));
  return { ...pickTexts(DETAIL_FIELDS)(person), customFieldValues };
}

function emptyToNull(changes: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value === "" ? null : value]));
}

function pickLists(person: Person): { [F in ListField]: Entry[] } {
  return Object.fromEntries(CONTACT_FIELDS.map((field) => [field, person[field] as Entry[]])) as { [F in ListField]: Entry[] };
}

function filled(changes: Partial<{ [F in ListField]: Entry[] }>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changes).map(([field, entries]) => [field, filledEntries(field as ListField, entries)]));
}

function pickReminder(person: Person): { every: string } {
  const { contactReminderEnabled, contactReminderInterval, contactReminderIntervalUnit } = person;
  return { every: contactReminderEnabled ? `${contactReminderInterval} ${contactReminderIntervalUnit}` : "never" };
}

function toReminder({ every = "" }: { every?: string }): Record<string, unknown> {
  const [interval, unit] = every.split(" ");
  if (!unit) return { contactReminderEnabled: false };
  return { contactReminderEnabled: true, contactReminderInterval: Number(interval), contactReminderIntervalUnit: unit };
}
