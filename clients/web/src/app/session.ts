// Who is signed in. The page starts from what the browser remembers, without a request: offline it is all there is.
import { effect, signal } from "@preact/signals";
import { Connection, IndexedDbStore, RefusedError, Session } from "contacts-client";
import { preferredLanguage, setLanguage } from "../i18n/index.ts";
import { Account } from "../store/account.ts";
import { navigate } from "./router.ts";

const REMEMBERED = "contacts account";
const FILLED = "contacts filled"; // the account whose copy was complete in this browser
const STORE_PREFIX = "contacts of ";

export type SessionState = "starting" | "out" | "in" | "ended"; // ended: the copy is here, the service wants a sign-in

export const state = signal<SessionState>("starting");
export const account = signal<Account | null>(null);
// The browser has removed what was saved here: edits that were not sent are gone.
export const wasRemoved = signal(false);
// Why a sign-in through the provider has led back: it is in the address, which may change before it is shown.
export const refusal = signal(new URLSearchParams(location.search).get("refused"));
export const connection = new Connection("", new Session(onEnded));

function onEnded(): void {
  if (state.value === "in") state.value = "ended";
}

// The account of the open copy, for pages that are only shown with one.
export function useAccount(): Account {
  const current = account.value;
  if (!current) throw new Error("nobody is signed in");
  return current;
}

export async function startSession(): Promise<void> {
  const remembered = localStorage.getItem(REMEMBERED);
  if (remembered) {
    await openAccount(remembered);
    return;
  }
  await setLanguage(preferredLanguage());
  const { data, response } = await connection.api.GET("/api/auth/session").catch(() => ({ data: undefined, response: null }));
  if (data) await openAccount(data.user.id);
  else if (response === null || response.status === 401) state.value = "out";
  else state.value = "out";
}

// Opens the copy of the account, which belongs to it alone.
async function openAccount(id: string): Promise<void> {
  const name = STORE_PREFIX + id;
  const store = await IndexedDbStore.open(name, () => onClosed());
  wasRemoved.value = localStorage.getItem(FILLED) === id && (await store.get("facts", "account")) === undefined;
  const opened = new Account(id, name, store, connection);
  await opened.open();
  localStorage.setItem(REMEMBERED, id);
  account.value = opened;
  state.value = "in";
  const stop = effect(() => {
    if (opened.sync.value.syncedAt) localStorage.setItem(FILLED, id);
  });
  opened.onClose = stop;
  void navigator.storage?.persist?.();
}

// Another tab has signed out, or the browser has removed the data of the site.
function onClosed(): void {
  if (state.value !== "out") location.reload();
}

export interface SignInForm {
  email: string;
  password: string;
  code?: string;
}

// Throws RefusedError: `invalid_credentials`, `mfa_required`, `email_unverified`; 429 with `retryAfter`.
export async function signIn(form: SignInForm): Promise<void> {
  const { user } = await connection.ask("POST", "/api/auth/login", form);
  const current = account.value;
  if (current && current.id === user.id) {
    state.value = "in";
    current.syncer.syncNow();
    return;
  }
  if (current) current.close(); // another account has a copy of its own
  await openAccount(user.id);
}

export async function register(form: Record<string, string>): Promise<"in" | "unverified"> {
  const { user } = await connection.ask("POST", "/api/auth/register", form);
  // Where verification is obligatory, nobody is signed in yet.
  const { data } = await connection.api.GET("/api/auth/session");
  if (!data) return "unverified";
  await openAccount(user.id);
  return "in";
}

// Ends the session and removes what this browser keeps of the account: the copy, photos, drafts, the push subscription.
export async function signOut(): Promise<void> {
  const current = account.value;
  state.value = "out";
  account.value = null;
  current?.close();
  await unsubscribePush().catch(() => undefined);
  await connection.ask("POST", "/api/auth/logout").catch((error: unknown) => {
    // Without a network the cookie stays until it expires; what is on this device goes all the same.
    if (error instanceof RefusedError && error.status !== 401) throw error;
  });
  await forget(current?.storeName);
  navigate("/sign-in");
}

export async function forget(storeName?: string): Promise<void> {
  localStorage.removeItem(REMEMBERED);
  localStorage.removeItem(FILLED);
  for (const key of Object.keys(localStorage)) if (/^(draft |contacts import)/.test(key)) localStorage.removeItem(key);
  if (storeName) await IndexedDbStore.remove(storeName);
  await globalThis.caches?.delete("photos");
}

async function unsubscribePush(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration("/app/");
  const subscription = await registration?.pushManager?.getSubscription();
  if (!subscription) return;
  const { subscriptions } = await connection.ask("GET", "/api/notifications/push/subscriptions");
  const mine = subscriptions.find(({ endpoint }: { endpoint: string }) => endpoint === subscription.endpoint);
  if (mine) await connection.ask("DELETE", `/api/notifications/push/subscriptions/${mine.id}`);
  await subscription.unsubscribe();
}
