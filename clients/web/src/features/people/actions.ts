// What is done with people, from lists and from a person's page. Each is undone from the message that follows.
import { t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { toast } from "../../ui/toast.tsx";

export async function deletePeople(account: Account, ids: readonly string[]): Promise<void> {
  const { copy } = account;
  const known = await copy.many("person", ids);
  for (const id of known.keys()) await copy.delete("person", id);
  const [only] = known.size === 1 ? [...known.values()] : [];
  const text = only
    ? t("{name} is in the trash.", { name: account.person(only.id)?.name ?? only.name })
    : tn("{count} person is in the trash.", "{count} people are in the trash.", known.size);
  toast(text, async () => {
    for (const [id, person] of known) await copy.restore("person", id, person);
  });
}

export async function addToGroup(account: Account, ids: readonly string[], groupId: string): Promise<void> {
  const { copy } = account;
  const changed = [...(await copy.many("person", ids)).values()].filter(({ groupIds }) => !groupIds.includes(groupId));
  for (const { id, groupIds } of changed) await copy.update("person", id, { groupIds: [...groupIds, groupId] });
  toast(tn("{count} person was added to the group.", "{count} people were added to the group.", changed.length), async () => {
    for (const { id } of changed) {
      const now = await copy.get("person", id);
      if (now) await copy.update("person", id, { groupIds: now.groupIds.filter((each) => each !== groupId) });
    }
  });
}

export async function setRelationship(account: Account, ids: readonly string[], typeId: string): Promise<void> {
  const { copy } = account;
  const before = [...(await copy.many("person", ids)).values()];
  for (const { id } of before) await copy.update("person", id, { relationshipToUserId: typeId });
  toast(tn("{count} person was changed.", "{count} people were changed.", before.length), async () => {
    for (const { id, relationshipToUserId } of before) await copy.update("person", id, { relationshipToUserId });
  });
}

// Sets one field of many people.
export async function setField(account: Account, ids: readonly string[], field: "favourite" | "quiet", value: boolean): Promise<void> {
  const { copy } = account;
  const changed = [...(await copy.many("person", ids)).values()].filter((person) => person[field] !== value);
  for (const { id } of changed) await copy.update("person", id, { [field]: value });
  toast(tn("{count} person was changed.", "{count} people were changed.", changed.length), async () => {
    for (const { id } of changed) await copy.update("person", id, { [field]: !value });
  });
}

export async function removeFromGroup(account: Account, ids: readonly string[], groupId: string): Promise<void> {
  const { copy } = account;
  const changed = [...(await copy.many("person", ids)).values()].filter(({ groupIds }) => groupIds.includes(groupId));
  for (const { id, groupIds } of changed) await copy.update("person", id, { groupIds: groupIds.filter((each) => each !== groupId) });
  toast(tn("{count} person was taken out of the group.", "{count} people were taken out of the group.", changed.length), async () => {
    for (const { id } of changed) {
      const now = await copy.get("person", id);
      if (now && !now.groupIds.includes(groupId)) await copy.update("person", id, { groupIds: [...now.groupIds, groupId] });
    }
  });
}

// Sets or ends the contact reminders of many people.
export async function setContactReminder(account: Account, ids: readonly string[], every: string): Promise<void> {
  const { copy } = account;
  const [interval, unit] = every.split(" ");
  const before = [...(await copy.many("person", ids)).values()];
  const changes = interval
    ? { contactReminderEnabled: true, contactReminderInterval: Number(interval), contactReminderIntervalUnit: unit as "MONTHS" }
    : { contactReminderEnabled: false };
  for (const { id } of before) await copy.update("person", id, changes);
  toast(tn("{count} person was changed.", "{count} people were changed.", before.length), async () => {
    for (const { id, contactReminderEnabled, contactReminderInterval, contactReminderIntervalUnit } of before) {
      await copy.update("person", id, { contactReminderEnabled, contactReminderInterval, contactReminderIntervalUnit });
    }
  });
}

// Switches the reminders of the important dates of a type of many people on or off.
export async function setDateReminders({ copy }: Account, ids: readonly string[], type: string, reminderEnabled: boolean): Promise<void> {
  const chosen = new Set(ids);
  const changed = (await copy.all("importantDate")).filter((date) => chosen.has(date.personId) && date.type === type && date.reminderEnabled !== reminderEnabled);
  for (const { id } of changed) await copy.update("importantDate", id, { reminderEnabled });
  toast(tn("{count} date was changed.", "{count} dates were changed.", changed.length), async () => {
    for (const { id } of changed) await copy.update("importantDate", id, { reminderEnabled: !reminderEnabled });
  });
}
