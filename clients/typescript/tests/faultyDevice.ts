// A device whose network fails, and whose program is killed, when the test says so. What it has stored stays.
import assert from "node:assert/strict";
import { type Change, Connection, Copy, type Edit, MemoryStore, retryingFetch, type Selection, type Store } from "../src/index.ts";
import type { Rows } from "../src/store.ts";
import { BASE, newToken } from "./accounts.ts";

// Of a request: lost before or after it was executed, or the program is killed at one of the two.
export type Outcome = "ok" | "unsent" | "unanswered" | "killed before" | "killed after";

export class KilledError extends Error {}

export class FaultyDevice {
  readonly disk = new MemoryStore();
  readonly requests: string[] = []; // method and path of each that was sent, in order
  outcome: (request: Request) => Outcome = () => "ok";
  isKilledAtWrite: () => boolean = () => false; // before a write of its store, while it syncs
  token: string;
  #program!: Program;

  constructor(token: string) {
    this.token = token;
    this.restart();
  }

  get copy(): Copy {
    return this.#program.copy;
  }

  // Starts the program anew: its memory is lost.
  restart(): void {
    this.#program?.kill();
    this.#program = new Program(this);
  }

  // Syncs (or pushes) with such a network. Throws KilledError if the program was killed meanwhile.
  async sync(outcome: (request: Request) => Outcome = () => "ok", work: "sync" | "push" = "sync"): Promise<void> {
    this.outcome = outcome;
    try {
      await Promise.race([this.copy[work](), this.#program.end]);
    } finally {
      this.outcome = () => "ok";
      this.isKilledAtWrite = () => false;
    }
  }

  // Syncs over a network with faults, after which the program is started anew.
  async syncInVain(outcome: (request: Request) => Outcome): Promise<void> {
    const error = await this.sync(outcome).then(() => undefined, (reason: unknown) => reason);
    assert.ok(error instanceof TypeError || error instanceof KilledError, `a fault ends the sync: ${String(error)}`);
    this.restart();
  }

  async edits(): Promise<Edit[]> {
    return this.disk.all("edits");
  }

  // The person with this name, as the user sees them. Throws if there is none.
  async person(name: string): Promise<Record<string, any>> {
    const found = (await this.copy.all("person")).find((person) => person.name === name);
    assert.ok(found, `${name} is there`);
    return found!;
  }

  async names(): Promise<string[]> {
    return (await this.copy.all("person")).map(({ name }) => String(name)).sort();
  }
}

// A running program. Once it is killed, nothing that it was about to do happens: what it waits for never comes.
class Program {
  readonly copy: Copy;
  readonly end: Promise<never>;
  #isKilled = false;
  #kill!: () => void;

  constructor(device: FaultyDevice) {
    this.end = new Promise((_, fail) => (this.#kill = () => fail(new KilledError("killed"))));
    this.end.catch(() => undefined);
    const send = (request: Request) => this.#unlessKilled(() => this.#send(device, request));
    const connection = new Connection(BASE, device.token, retryingFetch(send, 3, async () => undefined));
    this.copy = new Copy(this.#storeOf(device), connection);
  }

  kill(): void {
    this.#isKilled = true;
    this.#kill();
  }

  #unlessKilled<T>(work: () => Promise<T>): Promise<T> {
    return this.#isKilled ? new Promise(() => undefined) : work();
  }

  async #send(device: FaultyDevice, request: Request): Promise<Response> {
    const outcome = device.outcome(request);
    if (outcome === "killed before") this.kill();
    if (outcome === "unsent" || this.#isKilled) return this.#fail();
    device.requests.push(`${request.method} ${request.url.slice(BASE.length)}`);
    const response = await fetch(request);
    const body = await response.arrayBuffer();
    if (outcome === "killed after") this.kill();
    if (outcome !== "ok" || this.#isKilled) return this.#fail();
    const { status, headers } = response;
    return new Response([204, 304].includes(status) ? null : body, { status, headers });
  }

  #fail(): Promise<never> {
    return this.#unlessKilled(() => Promise.reject(new TypeError("the tunnel")));
  }

  #storeOf(device: FaultyDevice): Store {
    const { disk } = device;
    return {
      get: <T extends keyof Rows>(table: T, key: string) => this.#unlessKilled(() => disk.get(table, key)),
      many: <T extends keyof Rows>(table: T, keys: string[]) => this.#unlessKilled(() => disk.many(table, keys)),
      all: <T extends keyof Rows>(table: T, selection?: Selection) => this.#unlessKilled(() => disk.all(table, selection)),
      write: (changes: Change[]) => {
        if (device.isKilledAtWrite()) this.kill();
        return this.#unlessKilled(() => disk.write(changes));
      },
    };
  }
}

// Several devices of an account that no other test uses.
export function newDevices(count: number): FaultyDevice[] {
  const token = newToken();
  return Array.from({ length: count }, () => new FaultyDevice(token));
}

// Syncs all devices until no edit is pending and no device receives anything new.
export async function settle(...devices: FaultyDevice[]): Promise<void> {
  for (let round = 0; round < 10; round++) {
    let changes = 0;
    for (const { copy } of devices) {
      const { pulled, pushed } = await copy.sync();
      changes += pulled + pushed;
    }
    if (changes === 0) return;
  }
  throw new Error("the devices do not settle");
}
