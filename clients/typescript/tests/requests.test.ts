// Requests: retries, aborts, streams of events. Most need no service.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection, retryingFetch, signIn, type RefusedError } from "../src/index.ts";
import { newDevice } from "./accounts.ts";

// A device whose network answers nothing: each request fails once it is aborted.
function hangingDevice() {
  const held: { fail: (error: Error) => void }[] = [];
  let isHeld: () => void;
  const first = new Promise<void>((done) => (isHeld = done));
  const device = newDevice(
    (request) =>
      new Promise((_, fail) => {
        held.push({ fail });
        request.signal.addEventListener("abort", () => fail(request.signal.reason as Error));
        isHeld();
      }),
  );
  return { device, held, first };
}

for (const way of ["request", "api", "between attempts"]) {
  test(`an aborted request ends at once: ${way}`, async () => {
    const { device, held, first } = hangingDevice();
    const controller = new AbortController();
    const { signal } = controller;
    const sent: Promise<unknown> =
      way === "api"
        ? device.connection.api.GET("/api/find", { params: { query: { q: "a" } }, signal })
        : device.connection.request("GET", "/api/find?q=a", undefined, { signal });
    const outcome = sent.then(() => "answered", (error: Error) => error.name);
    await first;
    if (way === "between attempts") {
      held[0]!.fail(new TypeError("no network"));
      await new Promise((done) => setTimeout(done));
    }
    controller.abort();
    assert.equal(await outcome, "AbortError");
    assert.equal(held.length, 1);
  });
}

test("a long Retry-After is given back", async (context) => {
  const original = globalThis.fetch;
  context.after(() => void (globalThis.fetch = original));
  let attempts = 0;
  globalThis.fetch = async () => {
    attempts++;
    const headers = { "Retry-After": "320", "Content-Type": "application/json" };
    return new Response('{"error": "Too many attempts.", "retryAfter": 320}', { status: 429, headers });
  };
  const signedIn = signIn("http://127.0.0.1", { email: "ada@example.org", password: "x", name: "phone" });
  const { status, retryAfter } = await signedIn.then(() => assert.ok(false), (error: RefusedError) => error) as RefusedError;
  assert.deepEqual([status, retryAfter, attempts], [429, 320, 1]);
});

test("a short Retry-After is waited out, with the same Idempotency-Key", async () => {
  const [keys, pauses]: [(string | null)[], number[]] = [[], []];
  const send = retryingFetch(
    async (request) => {
      keys.push(request.headers.get("Idempotency-Key"));
      return new Response("{}", keys.length < 3 ? { status: 503, headers: { "Retry-After": "7" } } : { status: 201 });
    },
    6,
    async (milliseconds) => void pauses.push(milliseconds),
  );
  const response = await send(new Request("http://127.0.0.1/api/people", { method: "POST", body: "{}" }));
  assert.deepEqual([response.status, keys.length, new Set(keys).size], [201, 3, 1]);
  assert.deepEqual(pauses, [7000, 7000]);
});

test("the stream of revisions is read without iteration of streams, as in Safari", async (context) => {
  const prototype = ReadableStream.prototype as unknown as Record<string | symbol, unknown>;
  const names = [Symbol.asyncIterator, "values"];
  const known = names.map((name) => Object.getOwnPropertyDescriptor(prototype, name)!);
  context.after(() => names.forEach((name, n) => Object.defineProperty(prototype, name, known[n]!)));
  for (const name of names) delete prototype[name];
  const { connection } = newDevice();
  const controller = new AbortController();
  for await (const revision of connection.revisions({ signal: controller.signal })) {
    assert.equal(typeof revision, "number");
    controller.abort();
    break;
  }
  assert.ok(controller.signal.aborted);
});

test("the events of a response to a POST are read", async () => {
  const parts = ["event: progress\nda", 'ta: {"n": 1}\n\n: comment\n\nevent: complete\r\ndata: a\r', "\ndata: b\n\nid: 7\ndata\n\ndata: cut"];
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  const connection = new Connection("http://127.0.0.1", "t", async ({ method }) => new Response(stream, { status: method === "POST" ? 200 : 500 }));
  const found: string[][] = [];
  for await (const { event, data, id } of connection.events("POST", "/api/carddav/sync")) found.push([event, data, id]);
  assert.deepEqual(found, [["progress", '{"n": 1}', ""], ["complete", "a\nb", ""], ["message", "", "7"]]);
});
