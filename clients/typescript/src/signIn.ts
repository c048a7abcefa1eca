// Tokens for devices: by password, or through the user's browser and the service's OpenID provider.
import { RefusedError, requireSuccess } from "./errors.ts";
import { retryingFetch, type Send } from "./retrying.ts";

export interface Credentials {
  email: string;
  password: string;
  name: string; // of this device, as the account lists it
  code?: string; // of the second factor
  scope?: "READ" | "READ_WRITE";
}

// Creates a token for this device. Store it: it is not shown again. Throws RefusedError: 401 `invalid_credentials`, or
// `mfa_required`; in that case call it again with `code`; 429 after too many attempts.
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

// Starts a sign-in (RFC 8252, PKCE). `redirectUri` must be one that the operator of the service has allowed. Throws an
// error that says so where the browser offers no SHA-256: on pages that were loaded over plain http.
export async function beginSignIn(baseUrl: string, redirectUri: string): Promise<BegunSignIn> {
  if (!globalThis.crypto?.subtle) {
    throw new Error("Signing in by the provider needs a page that was loaded over https: crypto.subtle is missing here.");
  }
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
