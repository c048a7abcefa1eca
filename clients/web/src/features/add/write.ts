// Writes what a line says, at once and offline. Each is undone from the message that follows.
import type { Records } from "contacts-client";
import { navigate } from "../../app/router.ts";
import { timeAt, today } from "../../i18n/days.ts";
import { formatList, t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { numberTest, storedNumber } from "../../store/numbers.ts";
import { toast } from "../../ui/toast.tsx";
import { occasion } from "../person/dates.ts";
import { kindLabel } from "../person/interactions.ts";
import { idsOf, type Plan, type PlannedPerson } from "./plan.ts";

type Undo = () => Promise<unknown>;

export async function write(account: Account, plan: Plan): Promise<void> {
  const undos: Undo[] = [];
  const people: (PlannedPerson & { id: string })[] = [];
  for (const person of plan.people) people.push({ ...person, id: person.id ?? (await create(account, plan, person, undos)) });
  const [first, second] = people;
  let text = t("Saved");
  if (plan.kind === "contact") {
    await log(account, { ...plan, people }, undos);
    text = t("Logged: {kind}", { kind: plan.title ?? kindLabel(plan.contactKind) });
  } else if (plan.kind === "relation") {
    const id = await account.copy.create("relationship", { personId: first!.id, relatedPersonId: second!.id, relationshipTypeId: plan.typeId });
    undos.unshift(() => account.copy.delete("relationship", id));
  } else if (plan.kind === "group") {
    for (const { id } of people) await join(account, id, plan.groupIds, undos);
  } else {
    if (plan.kind !== "person") await addDetails(account, first!.id, plan, undos);
    if (plan.date?.day) await writeDate(account, first!.id, plan, undos);
    if (plan.kind === "date" && plan.date) text = t("{occasion} of {name}", { occasion: occasion({ type: plan.date.type, title: null }), name: first!.shownName });
    if (plan.kind !== "person" && plan.notes) await log(account, { ...plan, people, contactKind: "NOTE", title: null, day: null }, undos);
  }
  const made = people.filter(({ newName }) => newName);
  if (made.length && plan.kind !== "contact") text = t("{name} is saved.", { name: formatList(made.map(({ shownName }) => shownName)) });
  toast(text, async () => {
    for (const undo of undos) await undo();
  });
  if (plan.kind === "person") navigate(`/people/${first!.id}`);
}

async function create(account: Account, plan: Plan, { newName }: PlannedPerson, undos: Undo[]): Promise<string> {
  const isWhole = plan.kind === "person"; // the line is about this person alone
  const id = await account.copy.create("person", {
    name: newName!.name,
    ...(newName!.surname ? { surname: newName!.surname } : {}),
    ...(isWhole && plan.phones.length ? { phoneNumbers: plan.phones.map((number) => ({ type: "mobile", number })) } : {}),
    ...(isWhole && plan.emails.length ? { emails: plan.emails.map((email) => ({ type: "home", email })) } : {}),
    ...(isWhole && plan.notes ? { notes: plan.notes } : {}),
    ...(isWhole && plan.groupIds.length ? { groupIds: plan.groupIds } : {}),
  });
  undos.push(() => account.copy.delete("person", id));
  return id;
}

async function log(account: Account, plan: Plan, undos: Undo[]): Promise<void> {
  const zone = account.settings.value.timezone;
  // Of another day than today nobody knows the hour: noon.
  const at = plan.day && plan.day !== today(zone) ? timeAt(`${plan.day}T12:00`, zone) : new Date().toISOString();
  const id = await account.copy.create("interaction", { personIds: idsOf(plan, account), kind: plan.contactKind, at, title: plan.title, notes: plan.notes || null });
  undos.unshift(() => account.copy.delete("interaction", id));
}

// A person has one date of each kind: another day changes it.
async function writeDate({ copy }: Account, personId: string, { date, isReminded }: Plan, undos: Undo[]): Promise<void> {
  const { type, day, yearUnknown } = date!;
  const known = (await copy.of("importantDate", personId)).find((each) => each.type === type);
  if (!known) {
    const id = await copy.create("importantDate", { personId, type, date: day!, yearUnknown, reminderEnabled: isReminded });
    undos.unshift(() => copy.delete("importantDate", id));
    return;
  }
  await copy.update("importantDate", known.id, { date: day!, yearUnknown, reminderEnabled: isReminded });
  undos.unshift(() => copy.update("importantDate", known.id, { date: known.date, yearUnknown: known.yearUnknown, reminderEnabled: known.reminderEnabled }));
}

async function addDetails({ copy }: Account, id: string, { phones, emails }: Plan, undos: Undo[]): Promise<void> {
  const person = await copy.get("person", id);
  if (!person) return;
  const { phoneNumbers, emails: known } = person;
  const newPhones = phones.filter((number) => !phoneNumbers.some((each) => numberTest(number)?.(` ${storedNumber(each.number)}`)));
  const newEmails = emails.filter((email) => !known.some((each) => each.email.toLowerCase() === email.toLowerCase()));
  if (newPhones.length + newEmails.length === 0) return;
  await copy.update("person", id, {
    ...(newPhones.length ? { phoneNumbers: [...phoneNumbers, ...newPhones.map((number) => ({ type: "mobile", number }))] as Records["person"]["phoneNumbers"] } : {}),
    ...(newEmails.length ? { emails: [...known, ...newEmails.map((email) => ({ type: "home", email }))] as Records["person"]["emails"] } : {}),
  });
  undos.unshift(() => copy.update("person", id, { ...(newPhones.length ? { phoneNumbers } : {}), ...(newEmails.length ? { emails: known } : {}) }));
}

async function join({ copy }: Account, id: string, groupIds: readonly string[], undos: Undo[]): Promise<void> {
  const person = await copy.get("person", id);
  const added = groupIds.filter((each) => !person?.groupIds.includes(each));
  if (!person || added.length === 0) return;
  await copy.update("person", id, { groupIds: [...person.groupIds, ...added] });
  undos.unshift(async () => {
    const now = await copy.get("person", id);
    if (now) await copy.update("person", id, { groupIds: now.groupIds.filter((each) => !added.includes(each)) });
  });
}
