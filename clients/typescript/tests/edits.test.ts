// Edits that were not sent yet.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Copy } from "../src/index.ts";
import { newDevice, peopleOf } from "./accounts.ts";

test("unsent edits are listed and discarded, with what hangs on them", async () => {
  const device = newDevice();
  const { copy } = device;
  const ada = await copy.create("person", { name: "Ada" });
  await copy.create("importantDate", { personId: ada, type: "BIRTHDAY", date: "1815-12-10" });
  await copy.create("person", { name: "Ben" });
  const pending = await copy.pending();
  assert.equal(pending.length, 3);
  assert.equal(await copy.discard(pending[0]!), true);
  await copy.sync();
  assert.deepEqual((await copy.all("person")).map(({ name }) => name), ["Ben"]);
  assert.deepEqual(await copy.pending(), []);
  assert.deepEqual((await peopleOf(device)).map((person) => person["name"]), ["Ben"]);
  assert.deepEqual(await copy.all("importantDate"), []);
});

test("a new record has all fields before it was sent", async () => {
  const { copy } = newDevice();
  const before = Date.now();
  const person = await copy.create("person", { name: "Ada" });
  const made = {
    person,
    group: await copy.create("group", { name: "Engines" }),
    customFieldTemplate: await copy.create("customFieldTemplate", { name: "Drinks", type: "TEXT" }),
    relationshipType: await copy.create("relationshipType", { name: "pen pal", label: "Pen pal", symmetric: true }),
    importantDate: await copy.create("importantDate", { personId: person, title: "Met", date: "1833-06-05" }),
    interaction: await copy.create("interaction", { personIds: [person], kind: "CALL", at: "2026-01-01T00:00:00Z" }),
  };
  const fields = async () => {
    const found: Record<string, string[]> = {};
    for (const [type, id] of Object.entries(made)) {
      found[type] = Object.keys((await copy.get(type as keyof typeof made, id))!).sort();
    }
    return found;
  };
  const unsent = await fields();
  const { createdAt } = (await copy.get("person", person))!;
  await copy.sync();
  assert.deepEqual(unsent, await fields());
  assert.ok(Math.abs(new Date(createdAt).getTime() - before) < 60_000);
});

test("another account does not get the store", async () => {
  const { copy, store } = newDevice();
  await copy.create("person", { name: "Ada" });
  await copy.sync();
  await assert.rejects(new Copy(store, newDevice().connection).sync(), { message: /another account/ });
});

test("subscribers are told who changed what", async () => {
  const { copy } = newDevice();
  const told: string[][] = [];
  copy.subscribe(({ keys, by }) => told.push([by, ...[...keys].map((key) => key.slice(0, 7))]));
  await copy.create("person", { name: "Ada" });
  assert.deepEqual(told, [["user", "person/"]]);
  await copy.sync();
  assert.ok(told.some(([by, type]) => by === "sync" && type === "person/"));
});
