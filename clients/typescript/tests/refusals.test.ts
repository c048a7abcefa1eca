// Responses that refuse an edit, and those that are not about it. Most need no service.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection, Copy, MemoryStore, newId } from "../src/index.ts";
import { type FaultyDevice, newDevices, settle } from "./faultyDevice.ts";

// A copy with two people, on whose connection every write gets this response.
async function copyAnswered(status: number, body: string | object): Promise<Copy> {
  const store = new MemoryStore();
  const read = { user: { id: "u" }, changes: [], cursor: "c", hasMore: false };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const connection = new Connection("http://127.0.0.1", "t", async ({ method }) =>
    method === "GET" ? Response.json(read) : new Response(text, { status }),
  );
  for (const id of ["1", "2"]) {
    const row = { type: "person", id, etag: '"1-0"', record: { id, name: "Ada" }, reading: 0 };
    await store.write([{ table: "records", key: `person/${id}`, row }]);
  }
  return new Copy(store, connection);
}

test("a refused edit is kept, and can be amended or discarded", async () => {
  const [phone, laptop] = newDevices(2) as [FaultyDevice, FaultyDevice];
  const ada = await phone.copy.create("person", { name: "Ada", emails: [{ email: "no address" }] });
  await phone.copy.update("person", ada, { notes: "n" });
  const lost = await phone.copy.create("group", { name: "" });
  await phone.copy.update("group", lost, { description: "d" });
  assert.equal((await phone.copy.sync()).refused, 2);
  const [person, group] = await phone.copy.refused();
  assert.equal((person!.problem as any).details[0].field, "emails.0.email");
  await assert.rejects(phone.copy.amend(person!, { id: newId() }), { message: /keeps its id/ });
  assert.deepEqual(await phone.copy.refused(), [person, group]);
  await phone.copy.amend(person!, { emails: [{ email: "ada@example.org" }] });
  assert.equal(await phone.copy.discard(group!), true);
  await settle(phone, laptop);
  assert.equal((await laptop.person("Ada"))["notes"], "n");
  assert.deepEqual([await phone.edits(), await laptop.copy.all("group")], [[], []]);
});

for (const [status, body, name] of [
  [412, "<html>Precondition Failed</html>", "a 412 of a proxy"],
  [413, "<html>Too large</html>", "a refusal without JSON"],
] as const) {
  test(`${name} is kept with the edit`, async () => {
    const copy = await copyAnswered(status, body);
    await copy.update("person", "1", { name: "Grace" });
    assert.equal((await copy.sync()).refused, 1);
    assert.deepEqual((await copy.refused()).map(({ body, problem }) => [body, problem]), [[{ name: "Grace" }, {}]]);
  });
}

for (const [status, body, name] of [
  [409, { error: "Later", code: "in_progress" }, "an earlier attempt is still running"],
  [403, { error: "This token reads only", code: "read_only_token" }, "a token that may only read"],
  [403, { error: "Another page has signed in", code: "csrf" }, "a CSRF token of another session"],
  [404, "404 page not found", "a proxy whose service is down"],
] as const) {
  test(`a response that does not concern the edit ends the sync and keeps it: ${name}`, async () => {
    for (const edit of ["update", "delete", "create"] as const) {
      const copy = await copyAnswered(status, body);
      if (edit === "update") await copy.update("person", "1", { name: "Grace" });
      if (edit === "delete") await copy.delete("person", "2");
      if (edit === "create") await copy.create("person", { name: "Ada" });
      await copy.create("group", { name: "Engines" });
      for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(copy.sync(), { status });
      assert.deepEqual((await copy.pending()).map(({ action, state }) => [action, state]), [[edit, "sending"], ["create", "waiting"]]);
      assert.equal((await copy.all("person")).length, { update: 2, delete: 1, create: 3 }[edit]);
    }
  });
}
