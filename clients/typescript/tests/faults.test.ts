// A network that fails and a program that is killed: nothing is lost, nothing is stored twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { elsewhere } from "./accounts.ts";
import { FaultyDevice, newDevices, type Outcome, settle } from "./faultyDevice.ts";

type Pair = [phone: FaultyDevice, laptop: FaultyDevice];

function atMethod(method: string, outcome: Outcome): (request: Request) => Outcome {
  return (request) => (request.method === method ? outcome : "ok");
}

for (const method of ["POST", "PUT", "DELETE"]) {
  for (const outcome of ["unsent", "unanswered", "killed before", "killed after"] as const) {
    test(`a ${method} that is ${outcome} duplicates nothing`, async () => {
      const [phone, laptop] = newDevices(2) as Pair;
      const bob = await phone.copy.create("person", { name: "Bob" });
      const carl = await phone.copy.create("person", { name: "Carl" });
      await settle(phone, laptop);
      const ada = await phone.copy.create("person", { name: "Ada" });
      await phone.copy.update("person", carl, { notes: "n", emails: [{ email: "carl@example.org" }] });
      await phone.copy.update("person", ada, { emails: [{ email: "ada@example.org" }] });
      await phone.copy.delete("person", bob);
      await phone.syncInVain(atMethod(method, outcome));
      await settle(phone, laptop);
      const { people } = await elsewhere(phone.token).ask("GET", "/api/people");
      const mails = people.map((each: any) => [each.name, each.emails.map(({ email }: { email: string }) => email)]).sort();
      assert.deepEqual(mails, [["Ada", ["ada@example.org"]], ["Carl", ["carl@example.org"]]]);
      assert.deepEqual([await phone.names(), await laptop.names()], [["Ada", "Carl"], ["Ada", "Carl"]]);
      assert.deepEqual([await phone.edits(), await phone.copy.conflicts()], [[], []]);
    });
  }
}

test("a record created without a response and purged there can be created again", async () => {
  const [phone, laptop] = newDevices(2) as Pair;
  const ada = await phone.copy.create("person", { name: "Ada" });
  await phone.syncInVain(atMethod("POST", "killed after"));
  await phone.copy.update("person", ada, { notes: "phone's" });
  await elsewhere(phone.token).ask("DELETE", `/api/people/${ada}`);
  await elsewhere(phone.token).ask("DELETE", `/api/people/${ada}/permanent`);
  await phone.sync();
  await phone.copy.resolve((await phone.copy.conflicts())[0]!, "mine");
  await settle(phone, laptop);
  assert.equal((await laptop.person("Ada"))["notes"], "phone's");
});

// The response to a create is lost, another device changes the record, then the first device sends its next edits.

test("edits after a lost response are no conflict with themselves", async () => {
  const [phone, laptop] = newDevices(2) as Pair;
  const ada = await phone.copy.create("person", { name: "Ada", notes: "first" });
  await phone.copy.create("group", { name: "G" });
  await phone.copy.update("person", ada, { nickname: "mine" });
  await phone.syncInVain(atMethod("POST", "killed after"));
  await laptop.sync();
  await laptop.copy.update("person", ada, { nickname: "theirs", notes: "second" });
  await laptop.sync();
  await settle(phone, laptop);
  const seen = await phone.person("Ada");
  assert.deepEqual([seen["nickname"], seen["notes"]], ["theirs", "second"]);
  assert.deepEqual((await phone.copy.conflicts()).map(({ mine }) => mine), ["mine"]);
});

test("changes of others after a lost response are kept, as the user has not seen them", async () => {
  const [phone, laptop] = newDevices(2) as Pair;
  const ada = await phone.copy.create("person", { name: "Ada", notes: "first", emails: [{ email: "a@example.org" }] });
  await phone.copy.create("group", { name: "G" });
  for (const [device, name] of [[phone, "mine"], [laptop, "theirs"]] as const) {
    if (device === laptop) await laptop.sync();
    const { emails } = await device.person("Ada");
    await device.copy.update("person", ada, { notes: name, emails: [...emails, { email: `${name}@example.org` }] });
    await (device === phone ? phone.syncInVain(atMethod("POST", "killed after")) : laptop.sync());
  }
  await settle(phone, laptop);
  const seen = await phone.person("Ada");
  const mails = seen["emails"].map(({ email }: { email: string }) => email).sort();
  assert.deepEqual([seen["notes"], mails], ["theirs", ["a@example.org", "mine@example.org", "theirs@example.org"]]);
  assert.deepEqual((await phone.copy.conflicts()).map(({ mine }) => mine), ["mine"]);
});

test("two syncs at once run one after the other", async () => {
  const [phone, laptop] = newDevices(2) as Pair;
  await phone.copy.create("person", { name: "Ada" });
  await Promise.all([phone.sync(), phone.sync()]);
  await settle(phone, laptop);
  assert.deepEqual([await laptop.names(), phone.requests.filter((request) => request.startsWith("POST")).length], [["Ada"], 1]);
});

// Another account.

for (const work of ["sync", "push"] as const) {
  for (const beginsAnew of [false, true]) {
    test(`another account gets no edits and deletes nothing: ${work}${beginsAnew ? " without a cursor" : ""}`, async () => {
      const [phone, laptop] = newDevices(2) as Pair;
      const [stranger] = newDevices(1) as [FaultyDevice];
      await phone.copy.create("person", { name: "Ada" });
      await settle(phone, laptop);
      await phone.copy.create("person", { name: "Grace" });
      const cursors = ["cursor of people", "cursor of the rest"];
      if (beginsAnew) await phone.disk.write(cursors.map((key) => ({ table: "facts", key }))); // it was killed after a 410
      const { token } = phone;
      phone.token = stranger.token;
      phone.restart();
      await assert.rejects(phone.sync(undefined, work), { message: /another account/ });
      assert.deepEqual(await phone.names(), ["Ada", "Grace"]);
      assert.deepEqual((await elsewhere(stranger.token).ask("GET", "/api/people"))["people"], []);
      phone.token = token;
      phone.restart();
      await settle(phone, laptop);
      assert.deepEqual(await laptop.names(), ["Ada", "Grace"]);
    });
  }
}

test("another account gets nothing of a copy that was killed before it has read anything", async () => {
  const [phone, stranger] = [...newDevices(1), ...newDevices(1)] as Pair;
  await phone.copy.create("person", { name: "Maria" });
  await phone.syncInVain(({ url }) => (url.includes("/api/changes") ? "killed before" : "ok"));
  assert.deepEqual(await phone.disk.all("records"), []);
  phone.token = stranger.token;
  phone.restart();
  await assert.rejects(phone.sync(), { message: /another account/ });
  assert.deepEqual(await phone.names(), ["Maria"]);
  assert.deepEqual((await elsewhere(stranger.token).ask("GET", "/api/people"))["people"], []);
});

test("a refused token stops the sync and loses no edit", async () => {
  const [phone, laptop] = newDevices(2) as Pair;
  await phone.copy.create("person", { name: "Ada" });
  const { token } = phone;
  phone.token = "revoked";
  phone.restart();
  await assert.rejects(phone.sync(), { status: 401 });
  assert.deepEqual((await phone.edits()).map(({ state }) => state), ["waiting"]);
  phone.token = token;
  phone.restart();
  await settle(phone, laptop);
  assert.deepEqual(await laptop.names(), ["Ada"]);
});
