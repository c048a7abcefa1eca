// Answers to meetings that calendars propose: given offline, sent together, taken back.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Records } from "../src/index.ts";
import { elsewhere, newMeetingsToken } from "./accounts.ts";
import { FaultyDevice, settle } from "./faultyDevice.ts";

const AN_HOUR = 60 * 60_000;

// A device with the five proposals, in the order of their titles.
async function deviceWithMeetings(token = newMeetingsToken()): Promise<{ device: FaultyDevice; ids: string[] }> {
  const device = new FaultyDevice(token);
  await device.sync();
  return { device, ids: (await proposals(device)).map(({ id }) => id) };
}

async function proposals({ copy }: FaultyDevice): Promise<Records["meetingProposal"][]> {
  return (await copy.all("meetingProposal")).sort((one, other) => (one.title! < other.title! ? -1 : 1));
}

async function logged({ copy }: FaultyDevice): Promise<string[]> {
  return (await copy.all("interaction")).map(({ title }) => title!).sort();
}

function sent({ requests }: FaultyDevice, path: string): number {
  return requests.filter((request) => request.endsWith(path)).length;
}

test("answers are gone at once, and sent together where they say the same", async () => {
  const { device, ids } = await deviceWithMeetings();
  await device.copy.accept(ids.slice(0, 2));
  await device.copy.accept([ids[2]!]);
  await device.copy.dismiss([ids[3]!, ids[4]!]);
  assert.deepEqual([await proposals(device), (await device.copy.pending()).length], [[], 5]);
  await device.sync();
  assert.deepEqual(await logged(device), ["Lunch 0", "Lunch 1", "Lunch 2"]);
  assert.deepEqual([sent(device, "/accept"), sent(device, "/dismiss"), await device.edits()], [1, 1, []]);
  assert.equal((await device.person("Ada"))["lastContact"]?.slice(0, 10), "2026-05-03");
});

test("the feed of a copy from before there were proposals reads them alone", async () => {
  const { device } = await deviceWithMeetings();
  const { disk, requests } = device;
  const rows = (await disk.all("records", { prefix: "meetingProposal/" })).map(({ id }) => id);
  await disk.write([{ table: "facts", key: "cursor of meetings and shares" }, ...rows.map((id) => ({ table: "records" as const, key: `meetingProposal/${id}` }))]);
  device.restart();
  requests.length = 0;
  await device.sync();
  assert.equal((await proposals(device)).length, 5);
  const reread = requests.filter((request) => request.includes("/api/changes") && !request.includes("cursor="));
  assert.deepEqual(reread.map((request) => new URLSearchParams(request.split("?")[1]).get("types")), ["meetingProposal,share,shareConflict"]);
});

test("who was there is chosen, and who is unknown becomes a person", async () => {
  const { device, ids } = await deviceWithMeetings();
  const ben = await device.copy.create("person", { name: "Ben" });
  await device.copy.accept([ids[0]!], { personIds: [ben], createPeople: ["grace@example.org"], kind: "CALL" });
  await device.sync();
  const [call] = await device.copy.all("interaction");
  const grace = await device.person("Grace");
  assert.deepEqual([call!.kind, [...call!.personIds].sort()], ["CALL", [ben, grace["id"]].sort()]);
  assert.deepEqual([grace["surname"], grace["emails"][0].email], ["Hopper", "grace@example.org"]);
});

test("what was answered elsewhere meanwhile is no problem, and what is gone is one only where it was accepted", async () => {
  const { device, ids } = await deviceWithMeetings();
  const service = elsewhere(device.token);
  await device.copy.accept(ids.slice(0, 3));
  await device.copy.dismiss(ids.slice(3));
  await service.ask("POST", "/api/meeting-proposals/accept", { ids: [ids[0]] });
  await service.ask("POST", "/api/meeting-proposals/dismiss", { ids: [ids[3]] });
  await device.sync();
  assert.deepEqual([await logged(device), await device.edits()], [["Lunch 0", "Lunch 1", "Lunch 2"], []]);
});

test("what is not proposed any more is a problem only where it was accepted", async () => {
  const { device, ids } = await deviceWithMeetings();
  const service = elsewhere(device.token);
  await device.copy.accept(ids.slice(0, 2));
  await device.copy.dismiss(ids.slice(2));
  const [source] = (await service.ask("GET", "/api/calendar-sources"))["calendarSources"];
  await service.ask("DELETE", `/api/calendar-sources/${source.id}`);
  await device.sync();
  assert.deepEqual((await device.copy.refused()).map(({ action, id }) => [action, id]), ids.slice(0, 2).map((id) => ["accept", id]));
  assert.deepEqual([await proposals(device), await device.copy.pending()], [[], []]);
});

test("an answer whose response was lost is not given twice", async () => {
  const { device, ids } = await deviceWithMeetings();
  await device.copy.accept(ids.slice(0, 2));
  await device.syncInVain(({ url }) => (url.endsWith("/accept") ? "unanswered" : "ok"));
  await device.copy.accept([ids[2]!]);
  await device.sync();
  assert.deepEqual([await logged(device), await device.edits()], [["Lunch 0", "Lunch 1", "Lunch 2"], []]);
});

test("an answer is taken back: before it is sent, while it is held, and by deleting what was logged", async () => {
  const { device, ids } = await deviceWithMeetings();
  const [first, second, third, fourth] = ids as [string, string, string, string];
  await device.copy.accept([first]);
  assert.equal(await device.copy.takeBack(first), "open");
  await device.copy.dismiss([second], { always: "series" }, Date.now() + AN_HOUR);
  await device.copy.accept([third]);
  await device.copy.dismiss([fourth]);
  await device.sync();
  assert.deepEqual((await proposals(device)).map(({ title }) => title), ["Lunch 0", "Lunch 4"]);
  assert.equal(await device.copy.takeBack(second), "open");
  assert.equal(await device.copy.takeBack(third), "deleted");
  assert.equal(await device.copy.takeBack(fourth), "sent");
  await device.sync();
  assert.deepEqual((await proposals(device)).map(({ title }) => title), ["Lunch 0", "Lunch 1", "Lunch 4"]);
  assert.deepEqual([await logged(device), await device.edits()], [[], []]);
});

test("what one device answers another one does not ask", async () => {
  const { device, ids } = await deviceWithMeetings();
  const other = new FaultyDevice(device.token);
  await other.sync();
  await device.copy.accept([ids[0]!]);
  await device.copy.dismiss([ids[1]!], { always: "title" });
  await settle(device, other);
  for (const each of [device, other]) assert.deepEqual((await proposals(each)).map(({ title }) => title), ["Lunch 2", "Lunch 3", "Lunch 4"]);
  assert.deepEqual(await logged(other), ["Lunch 0"]);
});
