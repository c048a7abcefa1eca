// When the syncer of a page makes an attempt. The clock stands still until a test moves it.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { type Connection, type Copy, Syncer } from "../src/index.ts";

interface Attempt {
  succeed: () => void;
  fail: (error: Error) => void;
}

// A page that is visible, whose syncs end when the test says so, with a stream whose events it makes.
function newPage(context: TestContext) {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const page = new EventTarget();
  const globals = { document: Object.assign(new EventTarget(), { hidden: false }), addEventListener: page.addEventListener.bind(page) };
  Object.assign(globalThis, globals);
  const attempts: Attempt[] = [];
  const events: (() => void)[] = [];
  const pending: { heldUntil?: number }[] = [];
  const copy = {
    pending: async () => pending,
    subscribe: () => () => undefined,
    sync: () => new Promise<void>((succeed, fail) => attempts.push({ succeed, fail })),
  };
  const connection = {
    async *revisions({ signal }: { signal: AbortSignal }) {
      for (;;) {
        yield await new Promise<number>((happen, end) => {
          events.push(() => happen(1));
          signal.addEventListener("abort", end);
        });
      }
    },
  };
  const syncer = new Syncer(copy as unknown as Copy, connection as unknown as Connection, "copy", () => undefined);
  context.after(async () => {
    syncer.stop();
    await settle(); // it still looks at the page
    for (const name of Object.keys(globals)) delete (globalThis as Record<string, unknown>)[name];
  });
  return { attempts, events, pending, syncer };
}

// Time for all that follows without a timer.
async function settle(): Promise<void> {
  for (let n = 0; n < 200; n++) await null;
}

for (const when of ["during the sync", "while the next one waits"]) {
  test(`an event makes no attempt past the backoff: ${when}`, async (context) => {
    const { attempts, events, syncer } = newPage(context);
    const happen = async () => {
      events.at(-1)!();
      await settle();
    };
    syncer.start();
    while (events.length === 0) await new Promise((done) => setImmediate(done)); // the stream waits for a lock
    attempts[0]!.succeed();
    await settle();
    await happen(); // the first event of a connection
    assert.equal(attempts.length, 2);
    if (when === "during the sync") await happen();
    attempts.at(-1)!.fail(new Error("503"));
    await settle();
    if (when !== "during the sync") await happen();
    assert.equal(attempts.length, 2);
    context.mock.timers.tick(10_000);
    await settle();
    assert.equal(attempts.length, 3);
    // After a success, an event is followed by a sync again, one during a sync included.
    await happen();
    attempts.at(-1)!.succeed();
    await settle();
    assert.equal(attempts.length, 4);
  });
}

test("an edit that is held is sent once its time has come", async (context) => {
  const { attempts, pending, syncer } = newPage(context);
  pending.push({}, { heldUntil: Date.now() + 5_000 }, { heldUntil: Date.now() + 60_000 });
  syncer.start();
  attempts[0]!.succeed();
  await settle();
  context.mock.timers.tick(5_000);
  await settle();
  assert.equal(attempts.length, 1);
  context.mock.timers.tick(100);
  await settle();
  assert.equal(attempts.length, 2);
});
