// Requests that are repeated while the network or the service is not available.
import { bodyOf } from "./errors.ts";
import { newId } from "./ids.ts";

export type Send = (request: Request) => Promise<Response>;

const MAX_ATTEMPTS = 6;
const MAX_PAUSE_MILLISECONDS = 60_000;
// A longer Retry-After is for the caller: somebody may be waiting in front of a screen.
const MAX_RETRY_AFTER_MILLISECONDS = 10_000;
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

// Repeats a request, with the same Idempotency-Key, while the network or the service is not available. Pauses double from
// half a second to a minute, with random jitter, so that clients do not all return at once. A Retry-After of up to ten
// seconds is waited out; a response with a longer one is returned. An aborted request ends at once, as does one that
// failed while the browser knows that it is offline.
export function retryingFetch(send: Send = fetch, attempts = MAX_ATTEMPTS, sleep = pause): Send {
  return async (original) => {
    const request = new Request(original);
    const isPost = request.method === "POST";
    const path = new URL(request.url).pathname;
    const isRepeatable = !isPost || !PATHS_WITHOUT_KEY.some((prefix) => path.startsWith(prefix));
    if (isPost && isRepeatable && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", newId());
    }
    for (let attempt = 1; ; attempt++) {
      let retryAfter = 0;
      try {
        const response = await send(request.clone());
        if (attempt === attempts || !(await isRetryable(response))) return response;
        retryAfter = Number(response.headers.get("Retry-After") ?? 0) * 1000 || 0;
        if (retryAfter > MAX_RETRY_AFTER_MILLISECONDS) return response;
        await response.body?.cancel();
      } catch (error) {
        if (attempt === attempts || !isRepeatable || request.signal.aborted || isOffline()) throw error;
      }
      const backoff = Math.min(2 ** attempt * 250, MAX_PAUSE_MILLISECONDS) * (0.5 + Math.random());
      await sleep(Math.max(retryAfter, backoff), request.signal);
      request.signal.throwIfAborted();
    }
  };
}

// Whether the browser knows that there is no network. Other platforms do not say.
export function isOffline(): boolean {
  return globalThis.navigator?.onLine === false;
}

// Resolves after the time, or once the signal is aborted.
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) return done();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
  });
}

// Whether the request had no effect, or an earlier attempt with the same key is still running.
async function isRetryable(response: Response): Promise<boolean> {
  if (response.status !== 409) return RETRYABLE_STATUSES.has(response.status);
  return (await bodyOf(response.clone()))["code"] === "in_progress";
}
