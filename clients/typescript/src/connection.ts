// One signed-in connection: requests that are sent until they are answered, typed routes, pages, and the stream.
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./schema.ts";

export type Send = (request: Request) => Promise<Response>;

const ATTEMPTS = 6;
const LONGEST_PAUSE = 60_000;
const BUSY = new Set([429, 502, 503, 504]);
// POSTs that take no Idempotency-Key: their answers show secrets, stream, or sign in. One whose answer was lost is not
// sent again, since it may have been carried out. A test holds this against the API description.
const UNKEYED = [
  "/api/actions/",
  "/api/auth/",
  "/api/calendar-feeds",
  "/api/carddav/backup",
  "/api/carddav/sync",
  "/api/notifications/endpoints",
  "/api/photos/convert",
  "/api/unsubscribe",
  "/api/user/api-tokens",
  "/api/user/import/validate",
  "/api/user/mfa/",
];

// The service refused: its status, its `code` where there is one, and the whole body.
export class RefusedError extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    super(`${status}: ${String(body["error"] ?? "")}`);
    this.status = status;
    this.body = body;
  }

  get code(): string | undefined {
    return this.body["code"] as string | undefined;
  }
}

// Sends a request again while the network or the service is away, under the same Idempotency-Key. Pauses double from
// half a second to a minute, with chance in them; Retry-After counts where it is longer.
export function retryingFetch(send: Send = fetch, attempts = ATTEMPTS, sleep = pause): Send {
  return async (given) => {
    const request = new Request(given);
    const isPost = request.method === "POST";
    const path = new URL(request.url).pathname;
    const isRepeatable = !isPost || !UNKEYED.some((prefix) => path.startsWith(prefix));
    if (isPost && isRepeatable && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let attempt = 1; ; attempt++) {
      let wanted = 0;
      try {
        const response = await send(request.clone());
        if (attempt === attempts || !(await isForLater(response))) return response;
        wanted = Number(response.headers.get("Retry-After") ?? 0) * 1000;
        await response.body?.cancel();
      } catch (error) {
        if (attempt === attempts || !isRepeatable) throw error;
      }
      await sleep(Math.max(wanted || 0, Math.min(2 ** attempt * 250, LONGEST_PAUSE) * (0.5 + Math.random())));
    }
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

// Nothing of the request was kept, or its twin is still under way.
async function isForLater(response: Response): Promise<boolean> {
  if (response.status !== 409) return BUSY.has(response.status);
  return (await bodyOf(response.clone()))["code"] === "in_progress";
}

export interface Credentials {
  email: string;
  password: string;
  name: string; // of this device, as the account lists it
  code?: string; // of the second factor
  scope?: "READ" | "READ_WRITE";
}

// A token for this device; keep it, it is shown this once. Throws RefusedError: 401 `invalid_credentials`, or
// `mfa_required`, then once more with `code`.
export async function signIn(baseUrl: string, credentials: Credentials, send: Send = retryingFetch()): Promise<string> {
  const body = JSON.stringify(credentials);
  const headers = { "Content-Type": "application/json" };
  const response = await send(new Request(`${baseUrl}/api/auth/token`, { method: "POST", headers, body }));
  return (await success(response))["apiToken"].token;
}

// A sign-in by the service's provider that was begun: open `url` in the user's browser.
export interface BegunSignIn {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

// Begin a sign-in that leads back to `redirectUri`, which the service's operator has registered (RFC 8252).
export async function beginSignIn(baseUrl: string, redirectUri: string): Promise<BegunSignIn> {
  const state = randomText();
  const verifier = randomText();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const query = new URLSearchParams({
    redirect_uri: redirectUri,
    state,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  });
  return { url: `${baseUrl}/api/auth/oidc/start?${query}`, state, verifier };
}

// A token for this device, out of the address that the browser came back to. Throws RefusedError, also where the user
// did not sign in; its code is the provider's `error` then.
export async function finishSignIn(
  baseUrl: string,
  begun: BegunSignIn,
  address: string,
  device: { name: string; scope?: "READ" | "READ_WRITE" },
  send: Send = retryingFetch(),
): Promise<string> {
  const answer = new URL(address).searchParams;
  if (answer.get("state") !== begun.state) throw new RefusedError(400, { code: "invalid_state" });
  if (!answer.has("code")) {
    throw new RefusedError(400, { code: answer.get("error"), error: answer.get("error_description") });
  }
  const body = JSON.stringify({ ...device, code: answer.get("code"), codeVerifier: begun.verifier });
  const headers = { "Content-Type": "application/json" };
  const response = await send(new Request(`${baseUrl}/api/auth/oidc/token`, { method: "POST", headers, body }));
  return (await success(response))["apiToken"].token;
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(48)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Requests of one account, by its token. `api` has every route with its types.
export class Connection {
  readonly api: Client<paths>;
  readonly #baseUrl: string;
  readonly #token: string;
  readonly #send: Send;

  constructor(baseUrl: string, token: string, send: Send = retryingFetch()) {
    this.#baseUrl = baseUrl;
    this.#token = token;
    this.#send = send;
    this.api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` }, fetch: send });
  }

  // The answer, whatever its status. Throws TypeError where none comes.
  request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const all = { ...headers, Authorization: `Bearer ${this.#token}` };
    if (body === undefined) return this.#send(new Request(this.#baseUrl + path, { method, headers: all }));
    const typed = { ...all, "Content-Type": "application/json" };
    return this.#send(new Request(this.#baseUrl + path, { method, headers: typed, body: JSON.stringify(body) }));
  }

  // The body of a success. Throws RefusedError.
  async ask(method: string, path: string, body?: unknown): Promise<Record<string, any>> {
    return success(await this.request(method, path, body));
  }

  async signOut(): Promise<void> {
    await this.ask("DELETE", "/api/auth/token");
  }

  // The records of a list, page by page, whether it goes by `offset` or by `cursor`.
  async *pages(path: string, name: string, query: Record<string, string | number> = {}): AsyncGenerator<any> {
    for (let more = true; more; ) {
      const asked = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
      const page = await this.ask("GET", `${path}?${asked}`);
      yield* page[name];
      const told = page["pagination"] ?? page;
      more = told.hasMore ?? false;
      query = "cursor" in page ? { ...query, cursor: page["cursor"] } : { ...query, offset: told.offset + page[name].length };
    }
  }

  // The account's revision, now and after each change, until the stream ends.
  async *revisions(): AsyncGenerator<number> {
    const response = await this.request("GET", "/api/changes/stream");
    if (!response.ok || !response.body) throw new RefusedError(response.status, await bodyOf(response));
    let rest = "";
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data:")) yield JSON.parse(line.slice(5)).revision as number;
      }
    }
  }
}

// Empty where it is no JSON, as of a proxy on the way.
export async function bodyOf(response: Response): Promise<Record<string, any>> {
  return response.json().catch(() => ({}));
}

export async function success(response: Response): Promise<Record<string, any>> {
  const body = await bodyOf(response);
  if (!response.ok) throw new RefusedError(response.status, body);
  return body;
}
