// A signed-in connection to the service: requests with retries, typed routes, paged lists, streams of events, photos.
import createClient, { type Client } from "openapi-fetch";
import { bodyOf, RefusedError, requireSuccess } from "./errors.ts";
import { readEvents, type ServerEvent } from "./events.ts";
import { isDataUrl } from "./photos.ts";
import { retryingFetch, type Send } from "./retrying.ts";
import type { paths } from "./schema.ts";
import { Session } from "./session.ts";

export interface RequestOptions {
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined; // ends the request at once, also between two attempts
}

// Sends requests as an account: with a token, or with the session of the browser. `api` has every route with its types.
export class Connection {
  readonly api: Client<paths>;
  readonly isSession: boolean; // of the browser: a sign-in elsewhere in it may change whose it is
  readonly #baseUrl: string;
  readonly #send: Send;

  // `baseUrl` may be empty in a page of the service itself, with a session.
  constructor(baseUrl: string, credential: string | Session, send: Send = retryingFetch()) {
    this.#baseUrl = baseUrl || globalThis.location?.origin || "";
    this.isSession = credential instanceof Session;
    this.#send =
      credential instanceof Session ? credential.authenticate(this.#baseUrl, send) : sendWithToken(credential, send);
    this.api = createClient<paths>({ baseUrl: this.#baseUrl, fetch: this.#send });
  }

  // Returns the response with any status. Throws TypeError if there is none. FormData and Blob are sent as they are, other
  // bodies as JSON.
  request(method: string, path: string, body?: unknown, { headers = {}, signal }: RequestOptions = {}): Promise<Response> {
    const isRaw = body instanceof FormData || body instanceof Blob;
    const isJson = body !== undefined && !isRaw;
    const init: RequestInit = { method, headers: isJson ? { ...headers, "Content-Type": "application/json" } : headers };
    if (body !== undefined) init.body = isRaw ? body : JSON.stringify(body);
    if (signal) init.signal = signal;
    return this.#send(new Request(this.#baseUrl + path, init));
  }

  // Returns the body of a successful response. Throws RefusedError.
  async ask(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Record<string, any>> {
    return requireSuccess(await this.request(method, path, body, options));
  }

  // Ends the token of this connection.
  async signOut(): Promise<void> {
    await this.ask("DELETE", "/api/auth/token");
  }

  // All records of a paged list, which may use `offset` or `cursor`. Throws RefusedError.
  async *pages(
    path: string,
    name: string,
    query: Record<string, string | number> = {},
    options?: RequestOptions,
  ): AsyncGenerator<any> {
    for (let more = true; more; ) {
      const parameters = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
      const page = await this.ask("GET", `${path}?${parameters}`, undefined, options);
      yield* page[name];
      const pagination = page["pagination"] ?? page;
      more = pagination.hasMore ?? false;
      query = "cursor" in page ? { ...query, cursor: page["cursor"] } : { ...query, offset: pagination.offset + page[name].length };
    }
  }

  // Yields the Server-Sent Events of a response until the stream ends; for any method, such as POST /api/carddav/sync.
  // Throws RefusedError. To stop it while it waits for the next event, abort the signal.
  async *events(method: string, path: string, body?: unknown, options?: RequestOptions): AsyncGenerator<ServerEvent> {
    const response = await this.request(method, path, body, options);
    if (!response.ok || !response.body) throw new RefusedError(response.status, await bodyOf(response));
    yield* readEvents(response.body);
  }

  // Yields the account's revision, at first and after each change, until the stream ends.
  async *revisions(options?: RequestOptions): AsyncGenerator<number> {
    for await (const { data } of this.events("GET", "/api/changes/stream", undefined, options)) {
      yield JSON.parse(data).revision as number;
    }
  }

  // Sets the photo of a person (or of the account: "user") and returns its new file name. Throws RefusedError. JPEG, PNG,
  // GIF or WebP; HEIC first goes through `convertPhoto`.
  async setPhoto(owner: string, picture: Blob, options?: RequestOptions): Promise<string> {
    const form = new FormData();
    form.set("photo", picture);
    return (await this.ask("POST", owner === "user" ? "/api/user/photo" : `/api/people/${owner}/photo`, form, options))["photo"];
  }

  // Converts a HEIC or HEIF picture, which most browsers cannot show, to JPEG. Throws RefusedError.
  async convertPhoto(picture: Blob, options?: RequestOptions): Promise<Blob> {
    const form = new FormData();
    form.set("photo", picture);
    const response = await this.request("POST", "/api/photos/convert", form, options);
    if (!response.ok) throw new RefusedError(response.status, await bodyOf(response));
    return response.blob();
  }

  // The address of a photo, which may be cached for good: another photo has another address. Only for sessions, as an
  // <img> sends no token. A photo that was not sent yet is its own address.
  photoUrl(owner: { id: string; photo: string | null }, isUser = false): string | null {
    if (isDataUrl(owner.photo)) return owner.photo;
    const version = owner.photo && encodeURIComponent(owner.photo);
    return version ? `${this.#baseUrl}/api/photos/${isUser ? "user" : owner.id}?v=${version}` : null;
  }
}

function sendWithToken(token: string, send: Send): Send {
  return (given) => {
    const request = new Request(given);
    request.headers.set("Authorization", `Bearer ${token}`);
    return send(request);
  };
}
