// Devices of one account that were offline: what they wrote is merged, and what cannot be merged is a conflict.
import assert from "node:assert/strict";
import { test } from "node:test";
import { elsewhere } from "./accounts.ts";
import { type FaultyDevice, newDevices, settle } from "./faultyDevice.ts";

type Pair = [phone: FaultyDevice, laptop: FaultyDevice];

// Two devices that have a person.
async function devicesWithAda(fields: object = {}): Promise<{ phone: FaultyDevice; laptop: FaultyDevice; ada: string }> {
  const [phone, laptop] = newDevices(2) as Pair;
  const ada = await phone.copy.create("person", { name: "Ada", ...fields });
  await settle(phone, laptop);
  return { phone, laptop, ada };
}

function mailsOf(person: Record<string, any>): string[] {
  return person["emails"].map(({ email }: { email: string }) => email).sort();
}

test("records made offline are visible at once and sent in order", async () => {
  const [phone, laptop] = newDevices(2) as Pair;
  const family = await phone.copy.create("group", { name: "Family" });
  const ada = await phone.copy.create("person", { name: "Ada", groupIds: [family], emails: [{ email: "ada@example.org" }] });
  await phone.copy.update("person", ada, { surname: "Lovelace" });
  const born = await phone.copy.create("importantDate", { personId: ada, type: "BIRTHDAY", date: "1815-12-10" });
  await phone.copy.update("person", ada, { emails: [{ email: "ada@example.org" }, { email: "a@example.org" }] });
  assert.equal((await phone.person("Ada"))["surname"], "Lovelace");
  await settle(phone, laptop);
  const seen = await laptop.person("Ada");
  assert.deepEqual([seen["surname"], seen["groupIds"], mailsOf(seen)], ["Lovelace", [family], ["a@example.org", "ada@example.org"]]);
  assert.deepEqual((await laptop.copy.of("importantDate", ada)).map(({ id }) => id), [born]);
  assert.deepEqual([await phone.copy.conflicts(), await laptop.copy.conflicts(), await phone.edits()], [[], [], []]);
});

test("edits of different fields and entries are merged", async () => {
  const { phone, laptop, ada } = await devicesWithAda({ emails: [{ email: "ada@example.org" }] });
  const [mail] = (await phone.person("Ada"))["emails"];
  await phone.copy.update("person", ada, { nickname: "Countess", emails: [mail, { email: "phone@example.org" }] });
  await laptop.copy.update("person", ada, { notes: "Met.", emails: [mail, { email: "laptop@example.org" }] });
  await settle(phone, laptop);
  for (const device of [phone, laptop]) {
    const seen = await device.person("Ada");
    assert.deepEqual([seen["nickname"], seen["notes"]], ["Countess", "Met."]);
    assert.deepEqual(mailsOf(seen), ["ada@example.org", "laptop@example.org", "phone@example.org"]);
    assert.deepEqual(await device.copy.conflicts(), []);
  }
});

for (const keep of ["mine", "theirs"] as const) {
  test(`two edits of one field are a conflict: ${keep}`, async () => {
    const { phone, laptop, ada } = await devicesWithAda({ notes: "old" });
    await phone.copy.update("person", ada, { notes: "phone's", surname: "Lovelace" });
    await laptop.copy.update("person", ada, { notes: "laptop's" });
    await settle(phone, laptop);
    const [conflict, ...others] = await laptop.copy.conflicts();
    const { field, base, mine, theirs } = conflict!;
    assert.deepEqual([field, base, mine, theirs, others], ["notes", "old", "laptop's", "phone's", []]);
    assert.equal((await laptop.person("Ada"))["notes"], "phone's");
    await laptop.copy.resolve(conflict!, keep);
    await settle(phone, laptop);
    const seen = await phone.person("Ada");
    assert.deepEqual([seen["notes"], seen["surname"]], [keep === "mine" ? "laptop's" : "phone's", "Lovelace"]);
    assert.deepEqual(await laptop.copy.conflicts(), []);
  });
}

test("an edit that is extended while it is about to be sent is sent whole", async () => {
  const { phone, laptop, ada } = await devicesWithAda();
  await phone.copy.update("person", ada, { notes: "first" });
  const pushed = phone.copy.push();
  await phone.copy.update("person", ada, { notes: "second", nickname: "Countess" });
  await pushed;
  await settle(phone, laptop);
  const seen = await laptop.person("Ada");
  assert.deepEqual([seen["notes"], seen["nickname"]], ["second", "Countess"]);
});

// Deletions.

for (const isPurged of [false, true]) {
  test(`a record edited here and ${isPurged ? "purged" : "deleted"} there can be restored`, async () => {
    const { phone, laptop, ada } = await devicesWithAda({ emails: [{ email: "ada@example.org" }] });
    await phone.copy.delete("person", ada);
    await phone.sync();
    if (isPurged) await elsewhere(phone.token).ask("DELETE", `/api/people/${ada}/permanent`);
    await laptop.copy.update("person", ada, { notes: "laptop's" });
    await settle(phone, laptop);
    assert.deepEqual(await laptop.names(), []);
    const [conflict] = await laptop.copy.conflicts();
    assert.deepEqual([conflict!.action, conflict!.field, conflict!.mine], ["update", null, { notes: "laptop's" }]);
    await laptop.copy.resolve(conflict!, "mine");
    await settle(phone, laptop);
    const back = await phone.person("Ada");
    assert.deepEqual([back["notes"], mailsOf(back)], ["laptop's", ["ada@example.org"]]);
    assert.equal(back["id"] === ada, !isPurged);
  });

  for (const deletedBy of ["phone", "laptop"]) {
    test(`a conflict of a field stays after its record was ${isPurged ? "purged" : "deleted"} by the ${deletedBy}`, async () => {
      const { phone, laptop, ada } = await devicesWithAda();
      const date = await phone.copy.create("importantDate", { personId: ada, title: "old", date: "2000-01-01" });
      await settle(phone, laptop);
      await phone.copy.update("importantDate", date, { title: "phone's" });
      await laptop.copy.update("importantDate", date, { title: "laptop's" });
      await settle(phone, laptop);
      assert.deepEqual((await laptop.copy.conflicts()).map(({ field }) => field), ["title"]);
      await (deletedBy === "phone" ? phone : laptop).copy.delete("importantDate", date);
      await settle(phone, laptop);
      const [conflict, ...others] = await laptop.copy.conflicts();
      assert.deepEqual([conflict!.field, conflict!.mine, others], [null, { title: "laptop's" }, []]);
      if (isPurged) await elsewhere(phone.token).ask("DELETE", `/api/people/${ada}/important-dates/${date}/permanent`);
      await laptop.copy.resolve(conflict!, "mine");
      await laptop.copy.update("importantDate", date, { date: "2001-01-01" });
      await settle(phone, laptop);
      assert.deepEqual([await laptop.copy.refused(), await laptop.copy.conflicts()], [[], []]);
      const dates = await phone.copy.all("importantDate");
      assert.deepEqual(dates.map((each) => [each.title, each.date.slice(0, 10)]), [["laptop's", "2001-01-01"]]);
      assert.equal(dates[0]!.id === date, !isPurged);
    });
  }
}

test("restoring a deleted record shows what the other device wrote", async () => {
  const { phone, laptop, ada } = await devicesWithAda();
  await phone.copy.update("person", ada, { notes: "phone's" });
  await phone.sync();
  await phone.copy.delete("person", ada);
  await phone.sync();
  await laptop.copy.update("person", ada, { notes: "laptop's", nickname: "laptop's" });
  await laptop.sync();
  await laptop.copy.resolve((await laptop.copy.conflicts())[0]!, "mine");
  await settle(phone, laptop);
  const back = await phone.person("Ada");
  assert.deepEqual([back["notes"], back["nickname"]], ["phone's", "laptop's"]);
  assert.deepEqual((await laptop.copy.conflicts()).map(({ mine, theirs }) => [mine, theirs]), [["laptop's", "phone's"]]);
});

test("a date that was deleted here, and moved to another person there, is kept", async () => {
  const { phone, laptop, ada } = await devicesWithAda();
  const other = await phone.copy.create("person", { name: "Ada L." });
  const date = await phone.copy.create("importantDate", { personId: other, title: "Party", date: "2000-01-01" });
  await settle(phone, laptop);
  await laptop.copy.delete("importantDate", date);
  await elsewhere(phone.token).ask("POST", "/api/people/merge", { primaryId: ada, secondaryId: other });
  await settle(phone, laptop);
  for (const { copy } of [phone, laptop]) {
    assert.deepEqual((await copy.all("importantDate")).map(({ personId }) => personId), [ada]);
  }
  assert.deepEqual((await laptop.copy.conflicts()).map(({ action }) => action), ["delete"]);
});

test("a record deleted here and edited there is kept", async () => {
  const { phone, laptop, ada } = await devicesWithAda();
  await phone.copy.update("person", ada, { notes: "phone's" });
  await phone.sync();
  await laptop.copy.delete("person", ada);
  assert.deepEqual(await laptop.names(), []);
  await settle(phone, laptop);
  assert.equal((await laptop.person("Ada"))["notes"], "phone's");
  const [conflict] = await laptop.copy.conflicts();
  assert.equal(conflict!.action, "delete");
  await laptop.copy.resolve(conflict!, "mine");
  await settle(phone, laptop);
  assert.deepEqual([await phone.names(), await laptop.names()], [[], []]);
});

for (const syncsBetween of [false, true]) {
  test(`two conflicts of a purged record, resolved ${syncsBetween ? "one by one" : "together"}, create one record`, async () => {
    const { phone, laptop, ada } = await devicesWithAda();
    await phone.copy.update("person", ada, { notes: "phone's", nickname: "phone's" });
    await laptop.copy.update("person", ada, { notes: "laptop's", nickname: "laptop's" });
    await settle(phone, laptop);
    await phone.copy.delete("person", ada);
    await settle(phone, laptop);
    await elsewhere(phone.token).ask("DELETE", `/api/people/${ada}/permanent`);
    for (const conflict of await laptop.copy.conflicts()) {
      await laptop.copy.resolve(conflict, "mine");
      if (syncsBetween) await settle(phone, laptop);
    }
    await settle(phone, laptop);
    const people = await phone.copy.all("person");
    assert.deepEqual(people.map(({ notes, nickname, name }) => [notes, nickname, name]), [["laptop's", "laptop's", "Ada"]]);
    assert.deepEqual([await laptop.copy.conflicts(), await laptop.edits()], [[], []]);
  });
}

// What is read.

test("an expired cursor causes a full reading", async () => {
  const { phone, laptop, ada } = await devicesWithAda();
  const gone = await phone.copy.create("person", { name: "Gone" });
  await settle(phone, laptop);
  await phone.copy.delete("person", gone);
  await phone.sync();
  await laptop.copy.update("person", ada, { notes: "kept" });
  await laptop.copy.update("person", gone, { notes: "kept, too" });
  // The cursors of another account are refused like those that have expired.
  const [stranger] = newDevices(1) as [FaultyDevice];
  await stranger.sync();
  for (const key of ["cursor of people", "cursor of the rest"]) {
    await laptop.disk.write([{ table: "facts", key, row: (await stranger.disk.get("facts", key))! }]);
  }
  await settle(phone, laptop);
  assert.deepEqual(await laptop.names(), ["Ada"]);
  assert.equal((await phone.person("Ada"))["notes"], "kept");
  assert.deepEqual((await laptop.copy.conflicts()).map(({ mine }) => mine), [{ notes: "kept, too" }]);
});

test("a sync without changes is one request for each feed", async () => {
  const { phone } = await devicesWithAda();
  phone.requests.length = 0;
  await phone.sync();
  assert.deepEqual(phone.requests.map((request) => request.replace(/\?.*/, "")), Array(3).fill("GET /api/changes"));
});
