// The session of a browser as a credential: the cookie goes along by itself, writes need the CSRF token.
import { bodyOf } from "./errors.ts";
import type { Send } from "./retrying.ts";

// Why the service knows nobody behind a request, as the `code` of its 401. The copy of the account may stay if the session
// has expired or is not known, and must go if it was ended elsewhere or the account was deleted.
export type EndReason = "unauthenticated" | "session_expired" | "session_revoked" | "account_deleted";

const END_REASONS: readonly string[] = ["unauthenticated", "session_expired", "session_revoked", "account_deleted"] satisfies EndReason[];
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);
const CSRF_COOKIE = /(?:^|; )csrftoken=([^;]+)/;

export class Session {
  #token = "";
  #asking: Promise<Response> | undefined;
  // Called if the service answers that nobody is signed in. Unsent edits stay in the copy until somebody signs in.
  readonly #onEnded: ((reason: EndReason) => void) | undefined;

  constructor(onEnded?: (reason: EndReason) => void) {
    this.#onEnded = onEnded;
  }

  // Adds the CSRF token to writes, and watches for the end of the session.
  authenticate(baseUrl: string, send: Send): Send {
    return async (given) => {
      const request = new Request(given);
      let response = await this.#sendOnce(baseUrl, send, request.clone());
      if (response.status === 403 && (await bodyOf(response.clone()))["code"] === "csrf") {
        // A sign-in elsewhere has changed the token.
        await this.#askForToken(baseUrl, send);
        response = await this.#sendOnce(baseUrl, send, request);
      }
      // Other servers' refusals are 401 as well: those of a CardDAV server have another code.
      const reason = response.status === 401 && endReason(await bodyOf(response.clone()));
      if (reason) this.#onEnded?.(reason);
      return response;
    };
  }

  async #sendOnce(baseUrl: string, send: Send, request: Request): Promise<Response> {
    if (SAFE_METHODS.has(request.method)) return send(request);
    // A service worker has no document.
    const cookie = CSRF_COOKIE.exec(globalThis.document?.cookie ?? "")?.[1];
    request.headers.set("X-CSRFToken", cookie ?? (this.#token || (await this.#askForToken(baseUrl, send))));
    return send(request);
  }

  // Asks once for all writes that wait: a second answer would replace the cookie to which the token of the first belongs.
  async #askForToken(baseUrl: string, send: Send): Promise<string> {
    this.#asking ??= send(new Request(`${baseUrl}/api/auth/csrf`));
    try {
      const response = await this.#asking;
      return (this.#token = String((await bodyOf(response.clone()))["csrfToken"] ?? ""));
    } finally {
      this.#asking = undefined;
    }
  }
}

// Why nobody is signed in, by the body of a 401; undefined if it is about something else, such as a wrong password.
export function endReason(body: Record<string, unknown>): EndReason | undefined {
  return END_REASONS.includes(String(body["code"])) ? (body["code"] as EndReason) : undefined;
}
