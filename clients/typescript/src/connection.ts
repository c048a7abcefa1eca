// A signed-in connection to the service: requests with retries, typed routes, paged lists, the stream of revisions.
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./schema.ts";

export type Send = (request: Request) => Promise<Response>;

const MAX_ATTEMPTS = 6;
const MAX_PAUSE_MILLISECONDS = 60_000;
const RETRYABLE_STATUSES = new Set([429, 502, 503, 504]);
// Paths whose POSTs accept no Idempotency-Key: their responses contain secrets, are streams, or sign in. If the response is
// lost, the request is not repeated, since it may have been executed. A test compares this with the API description.
const PATHS_WITHOUT_KEY = [
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

// An error response of the service: its status, its `code` if there is one, and the whole body.
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

// Repeats a request, with the same Idempotency-Key, while the network or the service is not available. Pauses double from
// half a second to a minute, with random jitter, so that clients do not all return at once. A longer Retry-After is
// respected.
export function retryingFetch(send: Send = fetch, attempts = MAX_ATTEMPTS, sleep = pause): Send {
  return async (original) => {
    const request = new Request(original);
    const isPost = request.method === "POST";
    const path = new URL(request.url).pathname;
    const isRepeatable = !isPost || !PATHS_WITHOUT_KEY.some((prefix) => path.startsWith(prefix));
    if (isPost && isRepeatable && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let attempt = 1; ; attempt++) {
      let retryAfter = 0;
      try {
        const response = await send(request.clone());
        if (attempt === attempts || !(await isRetryable(response))) return response;
        retryAfter = Number(response.headers.get("Retry-After") ?? 0) * 1000;
        await response.body?.cancel();
      } catch (error) {
        if (attempt === attempts || !isRepeatable) throw error;
      }
      await sleep(Math.max(retryAfter || 0, Math.min(2 ** attempt * 250, MAX_PAUSE_MILLISECONDS) * (0.5 + Math.random())));
    }
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

// Whether the request had no effect, or an earlier attempt with the same key is still running.
async function isRetryable(response: Response): Promise<boolean> {
  if (response.status !== 409) return RETRYABLE_STATUSES.has(response.status);
  return (await bodyOf(response.clone()))["code"] === "in_progress";
}

export interface Credentials {
  email: string;
  password: string;
  name: string; // of this device, as the account lists it
  code?: string; // of the second factor
  scope?: "READ" | "READ_WRITE";
}

// Creates a token for this device. Store it: it is not shown again. Throws RefusedError: 401 `invalid_credentials`, or
// `mfa_required`; in that case call it again with `code`.
export async function signIn(baseUrl: string, credentials: Credentials, send: Send = retryingFetch()): Promise<string> {
  const body = JSON.stringify(credentials);
  const headers = { "Content-Type": "application/json" };
  const response = await send(new Request(`${baseUrl}/api/auth/token`, { method: "POST", headers, body }));
  return (await requireSuccess(response))["apiToken"].token;
}

// A sign-in through the service's OpenID provider that was started: open `url` in the user's browser.
export interface BegunSignIn {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

// Starts a sign-in (RFC 8252, PKCE). `redirectUri` must be one that the operator of the service has allowed.
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

// Returns a token for this device. `address` is the URL to which the browser returned. Throws RefusedError; if the user
// did not sign in, its code is the provider's `error`.
export async function finishSignIn(
  baseUrl: string,
  started: BegunSignIn,
  address: string,
  device: { name: string; scope?: "READ" | "READ_WRITE" },
  send: Send = retryingFetch(),
): Promise<string> {
  const parameters = new URL(address).searchParams;
  // Otherwise another site could complete the sign-in with a code for an account of its own.
  if (parameters.get("state") !== started.state) throw new RefusedError(400, { code: "invalid_state" });
  if (!parameters.has("code")) {
    throw new RefusedError(400, { code: parameters.get("error"), error: parameters.get("error_description") });
  }
  const body = JSON.stringify({ ...device, code: parameters.get("code"), codeVerifier: started.verifier });
  const headers = { "Content-Type": "application/json" };
  const response = await send(new Request(`${baseUrl}/api/auth/oidc/token`, { method: "POST", headers, body }));
  return (await requireSuccess(response))["apiToken"].token;
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(48)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Sends requests with the token of an account. `api` has every route with its types.
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

  // Returns the response with any status. Throws TypeError if there is none.
  request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const all = { ...headers, Authorization: `Bearer ${this.#token}` };
    if (body === undefined) return this.#send(new Request(this.#baseUrl + path, { method, headers: all }));
    const typed = { ...all, "Content-Type": "application/json" };
    return this.#send(new Request(this.#baseUrl + path, { method, headers: typed, body: JSON.stringify(body) }));
  }

  // Returns the body of a successful response. Throws RefusedError.
  async ask(method: string, path: string, body?: unknown): Promise<Record<string, any>> {
    return requireSuccess(await this.request(method, path, body));
  }

  async signOut(): Promise<void> {
    await this.ask("DELETE", "/api/auth/token");
  }

  // All records of a paged list, which may use `offset` or `cursor`. Throws RefusedError.
  async *pages(path: string, name: string, query: Record<string, string | number> = {}): AsyncGenerator<any> {
    for (let more = true; more; ) {
      const parameters = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
      const page = await this.ask("GET", `${path}?${parameters}`);
      yield* page[name];
      const pagination = page["pagination"] ?? page;
      more = pagination.hasMore ?? false;
      query = "cursor" in page ? { ...query, cursor: page["cursor"] } : { ...query, offset: pagination.offset + page[name].length };
    }
  }

  // Yields the account's revision, at first and after each change, until the stream ends.
  async *revisions(): AsyncGenerator<number> {
    const response = await this.request("GET", "/api/changes/stream");
    if (!response.ok || !response.body) throw new RefusedError(response.status, await bodyOf(response));
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data:")) yield JSON.parse(line.slice(5)).revision as number;
      }
    }
  }
}

// Returns the body, or an empty one if it is no JSON, such as the error page of a proxy.
export async function bodyOf(response: Response): Promise<Record<string, any>> {
  return response.json().catch(() => ({}));
}

export async function requireSuccess(response: Response): Promise<Record<string, any>> {
  const body = await bodyOf(response);
  if (!response.ok) throw new RefusedError(response.status, body);
  return body;
}
