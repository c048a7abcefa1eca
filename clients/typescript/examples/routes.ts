// A client that uses only types generated from the API description: tsc checks it, node runs it.
import createClient from "openapi-fetch";
import type { components, paths } from "../src/schema.ts";

declare const process: { env: Record<string, string | undefined> };

const headers = { Authorization: `Bearer ${process.env["TOKEN"]}` };
const api = createClient<paths>({ baseUrl: process.env["BASE"] ?? "", headers });

function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

function nameOf(person: components["schemas"]["Person"]): string {
  const friend = person.relationships[0];
  return friend ? `${person.displayName}, ${friend.relationshipType?.label ?? "?"} of ${friend.relatedPerson.name}` : person.displayName;
}

async function createPerson(body: components["schemas"]["PersonRequest"]): Promise<components["schemas"]["Person"]> {
  const { data, error, response } = await api.POST("/api/people", { body });
  check(data, `${response.status}: ${error?.error}`);
  return data.person;
}

const group = await api.POST("/api/groups", { body: { name: "Family", color: "#4C6EF5" } });
check(group.data, "a group is created");
const ada = await createPerson({
  name: "Ada",
  groupIds: [group.data.group.id],
  emails: [{ type: "home", email: "ada@example.org" }],
  importantDates: [{ type: "BIRTHDAY", date: "1815-12-10", reminderEnabled: true }],
});
const bob = await createPerson({ name: "Bob" });
check(ada.importantDates[0]?.date === "1815-12-10T00:00:00.000Z", "a date is returned as a datetime");

const types = await api.GET("/api/relationship-types");
const friend = types.data?.relationshipTypes.find((type) => type.name === "FRIEND");
check(friend, "there are default types");
const pair = { personId: ada.id, relatedPersonId: bob.id, relationshipTypeId: friend.id };
check((await api.POST("/api/relationships", { body: pair })).data, "a relationship is created");
const twice = await api.POST("/api/relationships", { body: pair });
check(twice.response.status === 400 && twice.error && "details" in twice.error, "a second one is refused, with details");

const personId = { path: { personId: ada.id } };
const read = await api.GET("/api/people/{personId}", { params: personId });
check(read.data && nameOf(read.data.person) === "Ada, Friend of Bob", "relationships are typed");
const etag = read.response.headers.get("ETag") ?? "";
const again = await api.GET("/api/people/{personId}", { params: { ...personId, header: { "If-None-Match": etag } } });
check(again.response.status === 304, "an unchanged person is not sent again");

const changed = await api.PUT("/api/people/{personId}", { params: personId, body: { surname: "Lovelace" } });
check(changed.data?.person.surname === "Lovelace", "a person is changed");
const merged = await api.POST("/api/people/merge", {
  body: { primaryId: ada.id, secondaryId: bob.id, fieldOverrides: { nickname: "Countess", notes: null } },
});
check(merged.data?.person.nickname === "Countess", "overrides are typed");

check((await api.DELETE("/api/people/{personId}", { params: personId })).data, "a person is deleted");
const gone = await api.GET("/api/people/{personId}", { params: personId });
check(gone.response.status === 404 && gone.error, "it is gone");
const trash = await api.GET("/api/deleted", { params: { query: { type: "people", limit: 1 } } });
check(trash.data?.deleted[0]?.id === ada.id && trash.data.pagination?.total === 2, "the trash has pages");
const restored = await api.POST("/api/people/{personId}/restore", { params: personId });
check(restored.data?.person.deletedAt === null, "it is restored");
const twiceRestored = await api.POST("/api/people/{personId}/restore", { params: personId });
switch (twiceRestored.error && "code" in twiceRestored.error ? twiceRestored.error.code : undefined) {
  case "not_deleted":
    break;
  default:
    check(false, "a failure has a code");
}

let offset = 0;
const names: string[] = [];
for (let more = true; more; ) {
  const page = await api.GET("/api/people", { params: { query: { limit: 1, offset, includeDetails: false } } });
  check(page.data?.pagination, "a page has pagination");
  names.push(...page.data.people.map((person) => person.displayName));
  offset += page.data.pagination.limit;
  more = page.data.pagination.hasMore;
}
check(names.join() === "Ada Countess Lovelace" || names.length === 1, names.join());
const anonymous = createClient<paths>({ baseUrl: process.env["BASE"] ?? "" });
check((await anonymous.GET("/api/people")).response.status === 401, "an anonymous request is refused");
console.log("ok");
