// Adds a person: names, number and mail; what else is known is one tap away in the same form.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { href, navigate, place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatList, t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { type PersonRow, search } from "../../store/people.ts";
import { AreaField, SelectField, TextField } from "../../ui/Field.tsx";
import { type Form, useForm } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { toast } from "../../ui/toast.tsx";
import { createNewPeople, namesOf } from "../people/newPeople.ts";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { type Birthday, BirthdayFields, birthdayOf, isEmptyBirthday, noBirthday, saveBirthday } from "./Birthday.tsx";
import { type Entry, LISTS } from "./entries.ts";
import { DETAIL_FIELDS, NAME_FIELDS, toSent } from "./fields.ts";
import { GroupsForm } from "./GroupsSection.tsx";
import { type ChosenPhoto, PhotoField } from "./PhotoField.tsx";
import { PlainFields } from "./PlainFields.tsx";
import { mailProblem } from "./sections.tsx";
import "./person.css";

type More = "names" | "birthday" | "address" | "details" | "notes" | "you" | "groups" | "tie";

type Values = Record<string, unknown> & {
  phone: string;
  email: string;
  address: Entry;
  birthday: Birthday;
  notes: string;
  groupIds: string[];
  relationshipToUserId: string;
  tieIds: string[]; // of somebody to whom the new one is
  tieTypeId: string; // this
  shown: More[];
};

const FIRST_NAMES = ["name", "surname"];
const OTHER_NAMES = NAME_FIELDS.filter(({ name }) => !FIRST_NAMES.includes(name));
const PLAIN = [...NAME_FIELDS, ...DETAIL_FIELDS];
const MAX_SIMILAR = 3;
const MIN_NUMBER = 6; // digits that say something

export default function NewPersonPage() {
  const [count, setCount] = useState(0); // of those that were added one after another
  const [groupIds, setGroupIds] = useState<string[]>();
  const again = (groups: string[]) => {
    setGroupIds(groups);
    setCount(count + 1);
  };
  return (
    <Page title={t("New person")} back="/people" width="form">
      <NewPersonForm key={count} isFirst={count === 0} groupIds={groupIds} onAgain={again} />
    </Page>
  );
}

function initial(groupIds: string[] | undefined, isFirst: boolean): Values {
  const { query } = place.value;
  const given = (name: string) => (isFirst ? (query.get(name) ?? "") : "");
  const group = query.get("group");
  const { name, surname = "" } = namesOf(given("name"));
  return {
    ...Object.fromEntries(PLAIN.map((field) => [field.name, field.kind === "flag" ? false : ""])),
    name,
    surname,
    phone: given("phone"),
    email: given("email"),
    address: {},
    birthday: noBirthday(),
    notes: "",
    groupIds: groupIds ?? (group ? [group] : []),
    relationshipToUserId: "",
    tieIds: [],
    tieTypeId: "",
    shown: [],
  };
}

function NewPersonForm({ isFirst, groupIds, onAgain }: { isFirst: boolean; groupIds: string[] | undefined; onAgain: (groupIds: string[]) => void }) {
  const account = useAccount();
  const form = useForm<Values>(`${account.id} new person`, () => initial(groupIds, isFirst));
  const element = useRef<HTMLFormElement>(null);
  const [photo, setPhoto] = useState<ChosenPhoto | null>(null);
  const isSaving = useRef(false);
  const values = form.values.value;
  const name = [values["name"], values["surname"]].map((part) => String(part ?? "").trim()).filter(Boolean).join(" ");
  const called = String(values["name"] ?? "").trim();
  useEffect(() => element.current?.querySelector<HTMLElement>("input[name=name]")?.focus(), []);
  const check = (): boolean => {
    const wrong = mailProblem(values.email.trim());
    const errors = {
      ...(!called && { name: t("A given name is needed.") }),
      ...(wrong && { email: wrong }),
      ...(!isEmptyBirthday(values.birthday) && !birthdayOf(values.birthday) && { birthday: t("There is no such day.") }),
    };
    form.errors.value = errors;
    if (Object.keys(errors).length) requestAnimationFrame(() => element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
    return Object.keys(errors).length === 0;
  };
  const save = async (isLast: boolean) => {
    if (!check() || isSaving.current) return;
    isSaving.current = true; // a second tap must not make a second person
    const id = await createPerson(account, values, photo?.blob ?? null).finally(() => (isSaving.current = false));
    form.end();
    toast(t("{name} is saved.", { name }), () => account.copy.delete("person", id));
    if (isLast) navigate(`/people/${id}`, { replace: true });
    else onAgain(values.groupIds);
  };
  const opened = useRef<More | null>(null);
  const show = (more: More) => {
    opened.current = more;
    form.set("shown", [...values.shown, more]);
  };
  // As it is drawn and not a frame later: the focus would be taken from where somebody types by then.
  useLayoutEffect(() => {
    if (opened.current) element.current?.querySelector<HTMLElement>(`[data-more=${opened.current}] :is(input, select, textarea)`)?.focus();
    opened.current = null;
  }, [values.shown]);
  const isShown = (more: More) => values.shown.includes(more) || (more === "groups" && values.groupIds.length > 0);
  const text = (field: "phone" | "email" | "notes") => ({ value: values[field], onValue: (typed: string) => form.set(field, typed), error: form.errors.value[field] });
  const plain = form as unknown as Form<Record<string, unknown>>;
  const types = account.relationshipTypes.all.map(({ id, label }) => [id, label] as const).sort(([, one], [, other]) => one.localeCompare(other));
  const chips: [More, string][] = [
    ["birthday", t("Birthday")],
    ["address", t("Address")],
    ["details", t("Organization and more")],
    ["names", t("More names")],
    ["notes", t("Notes")],
    ["groups", t("Groups")],
    ["you", t("Relationship to you")],
    ["tie", t("Sister, partner … of somebody")],
  ];
  return (
    <form
      ref={element}
      class="stack new-person"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save(true);
      }}
      onKeyDown={(event) => {
        if ((event.target as Element).closest("dialog") || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        void save(true);
      }}
    >
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      <div class="card stack">
        <div class="new-person-head">
          <PhotoField person={{ id: "new", name: name || t("New person"), photo: null }} chosen={photo} onChosen={setPhoto} />
          <PlainFields fields={NAME_FIELDS.filter((field) => FIRST_NAMES.includes(field.name))} form={plain} />
        </div>
        <Similar account={account} name={name} phone={values.phone} email={values.email} />
        <div class="columns">
          <TextField label={t("Phone number")} name="phone" type="tel" inputMode="tel" autocomplete="off" {...text("phone")} />
          <TextField label={t("E-mail")} name="email" type="email" inputMode="email" autocomplete="off" {...text("email")} />
        </div>
        {isShown("birthday") && (
          <Part of="birthday">
            <BirthdayFields value={values.birthday} onPart={(part) => form.set("birthday", { ...form.values.peek().birthday, ...part })} error={form.errors.value["birthday"]} />
          </Part>
        )}
        {isShown("address") && (
          <Part of="address">
            <div class="columns">
              {LISTS.addresses.parts.map((part) => (
                <TextField key={part.name} label={t(part.label)} autocomplete="off" value={String(values.address[part.name] ?? "")} onValue={(typed) => form.set("address", { ...form.values.peek().address, [part.name]: typed })} />
              ))}
            </div>
          </Part>
        )}
        {isShown("names") && <Part of="names"><PlainFields fields={OTHER_NAMES} form={plain} /></Part>}
        {isShown("details") && <Part of="details"><PlainFields fields={DETAIL_FIELDS} form={plain} /></Part>}
        {isShown("notes") && <Part of="notes"><AreaField label={t("Notes")} maxLength={10_000} {...text("notes")} /></Part>}
        {isShown("groups") && (
          <Part of="groups">
            <h2>{t("Groups")}</h2>
            <GroupsForm groupIds={values.groupIds} onGroups={(ids) => form.set("groupIds", ids)} />
          </Part>
        )}
        {isShown("you") && (
          <Part of="you">
            <SelectField
              label={t("What {name} is to you", { name: called || t("New person") })}
              value={values.relationshipToUserId}
              onValue={(id) => form.set("relationshipToUserId", id)}
              options={[["", t("Nothing|no relationship")], ...types]}
            />
          </Part>
        )}
        {isShown("tie") && (
          <Part of="tie">
            <div class="columns">
              <PersonPicker label={t("Of whom")} ids={values.tieIds} onIds={(ids) => form.set("tieIds", ids.slice(-1))} />
              <SelectField label={t("{name} is", { name: called || t("New person") })} value={values.tieTypeId || (types[0]?.[0] ?? "")} onValue={(id) => form.set("tieTypeId", id)} options={types} />
            </div>
          </Part>
        )}
        <div class="row" role="group" aria-label={t("More")}>
          {chips
            .filter(([more]) => !isShown(more))
            .map(([more, label]) => (
              <button key={more} type="button" class="chip add" onClick={() => show(more)}>
                <Icon name="add" size={16} />
                {label}
              </button>
            ))}
        </div>
      </div>
      <div class="form-actions">
        <button
          type="button"
          onClick={() => {
            form.end();
            navigate("/people", { replace: true });
          }}
        >
          {t("Cancel")}
        </button>
        <button type="button" class="another" onClick={() => void save(false)}>
          {t("Save and add another")}
        </button>
        <button class="main">{t("Save")}</button>
      </div>
    </form>
  );
}

function Part({ of, children }: { of: More; children: ComponentChildren }) {
  return (
    <div class="stack tight" data-more={of}>
      {children}
    </div>
  );
}

// Says who is here already by this name, number or address of mail.
function Similar({ account, name, phone, email }: { account: Account; name: string; phone: string; email: string }) {
  const found = similarTo(account.people.value, name, phone, email);
  if (found.length === 0) return null;
  return (
    <div class="banner" role="status">
      <span>{t("{names} is here already. Is it the same person?|perhaps several", { names: formatList(found.map((row) => row.name)) })}</span>
      <span class="row">
        {found.map((row) => (
          <a key={row.id} class="button" href={href(`/people/${row.id}`)}>
            {found.length === 1 ? t("Open|a page") : t("Open {name}", { name: row.name })}
          </a>
        ))}
      </span>
    </div>
  );
}

function similarTo(people: PersonRow[], name: string, phone: string, email: string): PersonRow[] {
  const found = new Map<string, PersonRow>();
  const add = (query: string) => {
    for (const row of search(people, query, MAX_SIMILAR)) found.set(row.id, row);
  };
  if (phone.replace(/\D/g, "").length >= MIN_NUMBER) add(phone);
  if (/.@.+\../.test(email)) add(email.trim());
  if (name.includes(" ") || name.length > 3) add(name);
  return [...found.values()].slice(0, MAX_SIMILAR);
}

async function createPerson(account: Account, values: Values, photo: Blob | null): Promise<string> {
  const { copy, relationshipTypes } = account;
  const plain = Object.fromEntries(PLAIN.map((field) => [field.name, toSent(field, values[field.name] as string | boolean)]).filter(([, value]) => value !== null && value !== false));
  const address = Object.fromEntries(Object.entries(values.address).filter(([, part]) => String(part ?? "").trim()));
  const id = await copy.create("person", {
    ...plain,
    name: String(values["name"]).trim(),
    ...(values.phone.trim() && { phoneNumbers: [{ type: "mobile", number: values.phone.trim() }] }),
    ...(values.email.trim() && { emails: [{ type: "home", email: values.email.trim() }] }),
    ...(Object.keys(address).length > 0 && { addresses: [{ type: "home", ...address }] }),
    ...(values.notes.trim() && { notes: values.notes.trim() }),
    ...(values.groupIds.length > 0 && { groupIds: values.groupIds }),
    ...(values.relationshipToUserId && { relationshipToUserId: values.relationshipToUserId }),
  });
  if (photo) await copy.setPhoto(id, photo);
  await saveBirthday(copy, id, null, values.birthday);
  const [other] = await createNewPeople(account, values.tieIds);
  const relationshipTypeId = values.tieTypeId || (relationshipTypes.all.sort((one, two) => one.label.localeCompare(two.label))[0]?.id ?? null);
  if (other) await copy.create("relationship", { personId: id, relatedPersonId: other, relationshipTypeId });
  return id;
}
