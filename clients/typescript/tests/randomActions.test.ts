// Three devices act at random while networks fail and programs are killed, and lose nothing.
//
// OFFLINE_ROUNDS=1000 runs a thousand rounds. OFFLINE_SEED selects another run than the default; 0 selects a random one.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordType } from "../src/index.ts";
import { type FaultyDevice, KilledError, newDevices, type Outcome, settle } from "./faultyDevice.ts";

const ROUNDS = Number(process.env["OFFLINE_ROUNDS"] ?? 60);
const SEED = Number(process.env["OFFLINE_SEED"] ?? 2) || Math.floor(Math.random() * 1e9);
const NAMES = ["phone", "laptop", "tablet"];
const TEXT_FIELDS = ["notes", "nickname", "organization"] as const;
const FAULTS = ["ok", "ok", "unsent", "unanswered", "killed before", "killed after", "killed at a write"] as const;
const TYPES: RecordType[] = ["person", "group", "importantDate", "relationshipType"];
// Fields repeated from other records, which may be outdated (docs/changes.md).
const REPEATED_FIELDS = ["displayName", "memberCount", "person", "relatedPerson", "relationshipType", "inverse"];

type Person = Record<string, any>;
type Action = (device: FaultyDevice, person: Person) => Promise<unknown>;

// Numbers from 0 to 1 that a seed decides (mulberry32).
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.roll() * limit);
  }

  choose<T>(among: readonly T[]): T {
    return among[this.below(among.length)]!;
  }
}

// What the users of the devices do. `givenUp` are the values that a user saw and replaced or deleted.
class RandomUsers {
  readonly written: string[] = [];
  readonly givenUp = new Set<string>();
  readonly #devices: FaultyDevice[];
  readonly #dice: Dice;

  constructor(devices: FaultyDevice[], dice: Dice) {
    this.#devices = devices;
    this.#dice = dice;
  }

  async act(): Promise<void> {
    const device = this.#dice.choose(this.#devices);
    // By what does not change from run to run: ids do.
    const people = sortedBy(await device.copy.all("person"), ({ name }) => name);
    const actions: Action[] = [...times(4, this.#sync), this.#createRecords];
    if (people.length) {
      actions.push(...times(5, this.#editText), ...times(3, this.#addEntry), this.#removeEntry, this.#joinGroup, this.#deletePerson);
      actions.push(...times(2, this.#addDate), ...times(2, this.#editDate));
    }
    if ((await device.copy.conflicts()).length) actions.push(...times(3, this.#resolveConflict));
    await this.#dice.choose(actions).call(this, device, people.length ? this.#dice.choose(people) : {});
  }

  #value(device: FaultyDevice): string {
    this.written.push(`${NAMES[this.#devices.indexOf(device)]}-${this.written.length}.`);
    return this.written.at(-1)!;
  }

  #newEntry(device: FaultyDevice): { email: string } {
    return { email: `${this.#value(device)}x@example.org` };
  }

  #giveUp(...seen: unknown[]): void {
    const text = JSON.stringify(seen);
    for (const value of this.written) if (text.includes(value)) this.givenUp.add(value);
  }

  async #createRecords(device: FaultyDevice): Promise<void> {
    await device.copy.create("person", { name: this.#value(device), emails: [this.#newEntry(device)] });
    if (this.#dice.roll() < 0.3) await device.copy.create("group", { name: this.#value(device) });
  }

  async #editText(device: FaultyDevice, person: Person): Promise<void> {
    const field = this.#dice.choose(TEXT_FIELDS);
    await device.copy.update("person", person["id"], { [field]: this.#value(device) });
    this.#giveUp(person[field]);
  }

  async #addEntry(device: FaultyDevice, person: Person): Promise<void> {
    await device.copy.update("person", person["id"], { emails: [...person["emails"], this.#newEntry(device)] });
  }

  async #removeEntry(device: FaultyDevice, { id, emails }: Person): Promise<void> {
    if (emails.length === 0) return;
    const removed = this.#dice.choose(emails);
    await device.copy.update("person", id, { emails: emails.filter((entry: unknown) => entry !== removed) });
    this.#giveUp(removed);
  }

  async #joinGroup(device: FaultyDevice, { id, groupIds }: Person): Promise<void> {
    const groups = sortedBy(await device.copy.all("group"), ({ name }) => name);
    if (groups.length === 0) return;
    await device.copy.update("person", id, { groupIds: [...new Set([...groupIds, this.#dice.choose(groups).id])] });
  }

  async #addDate(device: FaultyDevice, { id }: Person): Promise<void> {
    await device.copy.create("importantDate", { personId: id, title: this.#value(device), date: "2000-01-01" });
  }

  async #editDate(device: FaultyDevice): Promise<void> {
    const dates = sortedBy(await device.copy.all("importantDate"), ({ title }) => title ?? "");
    if (dates.length === 0) return;
    const { id, title } = this.#dice.choose(dates);
    await device.copy.update("importantDate", id, { title: this.#value(device) });
    this.#giveUp(title);
  }

  async #deletePerson(device: FaultyDevice, person: Person): Promise<void> {
    if (this.#dice.roll() < 0.5) return;
    const dates = await datesOf(device, person["id"]);
    await device.copy.delete("person", person["id"]);
    this.#giveUp(person, dates);
  }

  async #resolveConflict(device: FaultyDevice): Promise<void> {
    const conflict = this.#dice.choose(sortedBy(await device.copy.conflicts(), (each) => JSON.stringify([each.field, each.mine])));
    const { type, id, action, field, base, mine, theirs } = conflict;
    const now: Record<string, any> = (await device.copy.get(type as "person", id)) ?? {};
    const dates = await datesOf(device, id);
    const keep = this.#dice.choose(["mine", "theirs"] as const);
    await device.copy.resolve(conflict, keep);
    if (keep === "theirs") return this.#giveUp(mine, base);
    this.#giveUp(theirs); // the user saw it, even if another edit has replaced it since
    if (field !== null) this.#giveUp(now[field], base);
    else if (action === "delete") this.#giveUp(now, dates);
    else this.#giveUp(base, Object.keys(mine as object).map((name) => now[name]));
  }

  async #sync(device: FaultyDevice): Promise<void> {
    const fault = this.#dice.choose(FAULTS);
    let survives = this.#dice.below(4);
    // Dice of its own: two feeds are read at once, so the number of requests may vary.
    const dice = new Dice(this.#dice.below(2 ** 32));
    const happens = () => --survives < 0 && dice.roll() < 0.7;
    const outcome = (): Outcome => (fault !== "killed at a write" && happens() ? fault : "ok");
    device.isKilledAtWrite = () => fault === "killed at a write" && happens();
    try {
      await device.sync(outcome);
    } catch (error) {
      if (error instanceof KilledError) device.restart();
      else if (!(error instanceof TypeError)) throw error;
    }
  }
}

function times(count: number, action: Action): Action[] {
  return Array.from({ length: count }, () => action);
}

function sortedBy<T>(records: T[], textOf: (record: T) => string): T[] {
  return [...records].sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
}

async function datesOf({ copy }: FaultyDevice, personId: string): Promise<unknown[]> {
  return (await copy.all("importantDate")).filter((date) => date.personId === personId);
}

// The records that a device has stored, without its edits.
async function recordsOf({ disk }: FaultyDevice): Promise<[type: string, record: Record<string, unknown>][]> {
  const rows = (await Promise.all(TYPES.map((type) => disk.all("records", { prefix: `${type}/` })))).flat();
  return rows.map(({ type, record }) => [
    type,
    Object.fromEntries(Object.entries(record).filter(([name]) => !REPEATED_FIELDS.includes(name))),
  ]);
}

test("random edits and faults lose nothing", async () => {
  const [phone, laptop, tablet, fresh] = newDevices(4) as [FaultyDevice, FaultyDevice, FaultyDevice, FaultyDevice];
  const devices = [phone, laptop, tablet];
  const users = new RandomUsers(devices, new Dice(SEED));
  for (let round = 0; round < ROUNDS; round++) await users.act();
  await settle(...devices);
  await fresh.sync();
  const there = await recordsOf(fresh);
  const conflicts = (await Promise.all(devices.map(({ copy }) => copy.conflicts()))).flat();
  const unsent = await Promise.all(devices.map((device) => device.edits()));
  const text = JSON.stringify([there, conflicts.map(({ mine, theirs }) => [mine, theirs]), unsent.flat().map(({ body }) => body)]);
  console.log(
    `${ROUNDS} rounds, seed ${SEED}: ${users.written.length} values, ${there.length} records, ${conflicts.length} conflicts, ` +
      `${unsent.flat().length} refused`,
  );
  assert.deepEqual(users.written.filter((value) => !users.givenUp.has(value) && !text.includes(value)), [], `lost with seed ${SEED}`);
  for (const [number, device] of devices.entries()) {
    assert.deepEqual(await recordsOf(device), there, `${NAMES[number]} with seed ${SEED}`);
    // What was not sent was refused, or it waits behind the refused creation of its record.
    const refused = new Set(unsent[number]!.filter(({ state }) => state === "refused").map(({ id }) => id));
    assert.deepEqual(unsent[number]!.filter(({ id }) => !refused.has(id)), [], `${NAMES[number]} with seed ${SEED}`);
  }
  // A value that is there twice is a write that was executed twice.
  const alive = JSON.stringify(there.filter(([type]) => type !== "relationshipType"));
  assert.deepEqual(users.written.filter((value) => alive.split(value).length > 2), [], `twice with seed ${SEED}`);
});
