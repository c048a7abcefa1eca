// Deletions after own edits, and after those of another device.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Copy } from "../src/index.ts";
import { elsewhere, newDevice, peopleOf } from "./accounts.ts";

const at = new Date().toISOString();

type Edits = Record<string, (copy: Copy, ids: { ada: string; ben: string; group: string; template: string }) => Promise<unknown>>;

const EDITS: Edits = {
  interaction: (copy, { ada }) => copy.create("interaction", { personIds: [ada], kind: "CALL", at }),
  "important date": (copy, { ada }) => copy.create("importantDate", { personId: ada, type: "BIRTHDAY", date: "1815-12-10" }),
  relationship: (copy, { ada, ben }) => copy.create("relationship", { personId: ada, relatedPersonId: ben }),
  "membership of a group": (copy, { ada, group }) => copy.update("person", ada, { groupIds: [group] }),
  "custom value": (copy, { ada, template }) =>
    copy.update("person", ada, { customFieldValues: [{ templateId: template, value: "tea" }] }),
};

for (const [name, edit] of Object.entries(EDITS)) {
  for (const isSent of [false, true]) {
    // Sent: the edit is executed, but its effects were not read before the deletion.
    test(`an own ${name}, ${isSent ? "just sent" : "unsent"}, is no conflict with the deletion`, async () => {
      const device = newDevice();
      const { copy } = device;
      const ada = await copy.create("person", { name: "Ada" });
      const ben = await copy.create("person", { name: "Ben" });
      const group = await copy.create("group", { name: "Engines" });
      const template = await copy.create("customFieldTemplate", { name: "Drinks", type: "TEXT" });
      await copy.sync();
      await edit(copy, { ada, ben, group, template });
      if (isSent) await copy.push();
      await copy.delete("person", ada);
      await copy.delete("group", group);
      await copy.delete("customFieldTemplate", template);
      await copy.sync();
      assert.deepEqual([await copy.conflicts(), await copy.refused()], [[], []]);
      assert.deepEqual((await copy.all("person")).map((person) => person.name), ["Ben"]);
      assert.deepEqual((await peopleOf(device)).map((person) => person["name"]), ["Ben"]);
      assert.deepEqual((await device.connection.ask("GET", "/api/groups"))["groups"], []);
    });
  }
}

for (const kind of ["date", "notes"]) {
  test(`${kind} of another device are a conflict with a deletion, also beside an own edit`, async () => {
    const device = newDevice();
    const { copy, token } = device;
    const ada = await copy.create("person", { name: "Ada" });
    await copy.sync();
    if (kind === "date") {
      await elsewhere(token).ask("POST", `/api/people/${ada}/important-dates`, { title: "Met", date: "1833-06-05" });
    } else {
      await elsewhere(token).ask("PUT", `/api/people/${ada}`, { notes: "elsewhere" });
    }
    await copy.create("interaction", { personIds: [ada], kind: "CALL", at });
    await copy.delete("person", ada);
    await copy.sync();
    assert.deepEqual((await copy.conflicts()).map(({ action, field }) => [action, field]), [["delete", null]]);
    assert.equal((await peopleOf(device)).length, 1);
  });
}

test("the options of a deletion are sent", async () => {
  const device = newDevice();
  const { copy } = device;
  const ada = await copy.create("person", { name: "Ada" });
  const ben = await copy.create("person", { name: "Ben" });
  await copy.sync();
  const [type] = await copy.all("relationshipType");
  await copy.update("person", ada, { relationshipToUserId: type!.id });
  await copy.create("relationship", { personId: ada, relatedPersonId: ben });
  await copy.sync();
  await copy.delete("person", ada, { deleteOrphans: true, deleteFromCardDav: false });
  await copy.sync();
  assert.deepEqual(await peopleOf(device), []);
});

for (const isSent of [false, true]) {
  test(`a deletion is taken back, ${isSent ? "after" : "before"} it was sent`, async () => {
    const device = newDevice();
    const { copy } = device;
    const ada = await copy.create("person", { name: "Ada" });
    const date = await copy.create("importantDate", { personId: ada, type: "BIRTHDAY", date: "1815-12-10" });
    await copy.sync();
    const [knownPerson, knownDate] = [await copy.get("person", ada), await copy.get("importantDate", date)];
    await copy.delete("importantDate", date);
    await copy.delete("person", ada);
    if (isSent) await copy.sync();
    assert.equal(await copy.get("person", ada), undefined);
    await copy.restore("person", ada, knownPerson);
    await copy.restore("importantDate", date, knownDate);
    assert.equal((await copy.get("person", ada))?.name, "Ada");
    assert.equal((await copy.pending()).length, isSent ? 2 : 0);
    await copy.sync();
    assert.equal((await copy.of("importantDate", ada)).length, 1);
    assert.deepEqual(await copy.refused(), []);
    assert.equal((await peopleOf(device)).length, 1);
  });
}
