// Who is signed in, and what this browser keeps of whom. One owner of both: the session's account is compared with that of
// the copy before anything is shown, when the user comes back to the tab, and after every refusal. Without an answer, such as
// without a network, the copy is all there is, and is shown.
import { effect, signal } from "@preact/signals";
import { Connection, Copies, type EndReason, endReason, MemoryStore, OtherAccountError, Session, type Store, type Unsent } from "contacts-client";
import { preferredLanguage, setLanguage, t } from "../i18n/index.ts";
import { Account } from "../store/account.ts";
import { toast } from "../ui/toast.tsx";
import { isUnreachable, sendInBackground, sendWhileWaiting } from "./reach.ts";
import { navigate } from "./router.ts";

const REMEMBERED = "contacts account"; // the account that this browser was last signed in to
const FILLED = "contacts filled"; // the account whose copy was complete in this browser
const SIGNING_OUT = "contacts signing out"; // the account whose session could not be ended yet
const PATIENCE_MILLISECONDS = 4_000; // then the copy, or the sign-in, is shown, and compared once the answer is there
const RENEWAL = "contacts renewal"; // the name of a lock
const SECOND_LOOK_MILLISECONDS = 1_500;
const SIGN_OUT_MILLISECONDS = 10_000;

export type SessionState = "starting" | "out" | "in" | "ended"; // ended: the copy is here, the service wants a sign-in

export const state = signal<SessionState>("starting");
export const account = signal<Account | null>(null);
// Why the session is not there any more, if it was; `not_ended`: somebody has signed out here, but the session lives on.
export const ended = signal<EndReason | "not_ended" | null>(null);
// What could not be sent of copies that are here, for the page that asks to sign in.
export const unsentHere = signal<Unsent[]>([]);
// What would be lost by signing out, while the user is asked; null otherwise.
export const unsentAtSignOut = signal<Unsent[] | null>(null);
// The client could not start, such as in a browser that stores nothing.
export const startFailure = signal<unknown>(null);
// The browser keeps nothing: a private window, lockdown, or storage that is switched off. The copy is in memory alone.
export const isKeptNowhere = signal(false);
// The browser has removed what was saved here: edits that were not sent are gone.
export const wasRemoved = signal(false);
// Why a sign-in through the provider has led back: it is in the address, which may change before it is shown.
export const refusal = signal(new URLSearchParams(location.search).get("refused"));
export const copies = new Copies("contacts of ");
export const connection = new Connection("", new Session(() => void compare()), sendWhileWaiting);
const background = new Connection("", new Session(() => void compare()), sendInBackground);
// Tries once, and watches for nothing: to ask who is signed in, and to sign out.
const once = new Connection("", new Session(), (request) => fetch(request));

type Answer = { id: string } | { reason: EndReason };

// The account of the open copy, for pages that are only shown with one.
export function useAccount(): Account {
  const current = account.value;
  if (!current) throw new Error("nobody is signed in");
  return current;
}

export async function startSession(): Promise<void> {
  try {
    await start();
  } catch (error) {
    startFailure.value = error;
    throw error;
  }
  addEventListener("pageshow", ({ persisted }) => persisted && void compare());
  document.addEventListener("visibilitychange", () => !document.hidden && void compare());
  // Another tab has signed in or out.
  addEventListener("storage", ({ key }) => key === REMEMBERED && void compare());
}

async function start(): Promise<void> {
  const remembered = localStorage.getItem(REMEMBERED);
  const asked = ask();
  const answer = await Promise.race([asked, new Promise<null>((done) => setTimeout(() => done(null), PATIENCE_MILLISECONDS))]);
  const leaver = localStorage.getItem(SIGNING_OUT);
  if (leaver !== null) {
    // Somebody has signed out here, and the service did not hear it.
    const isStill = answer === null || ("id" in answer && answer.id === leaver);
    if (isStill && !(await endSession())) return goOut("not_ended");
    localStorage.removeItem(SIGNING_OUT);
    if (isStill) return goOut(null);
  }
  if (answer) return judge(answer);
  if (remembered) await openAccount(remembered);
  else await goOut(null);
  void asked.then((late) => late && judge(late)).catch(() => undefined);
}

// Who is signed in, by the service; null without an answer.
async function ask(): Promise<Answer | null> {
  try {
    const response = await once.request("GET", "/api/auth/session");
    const body = await response.json();
    if (response.ok) return { id: body.user.id };
    const reason = response.status === 401 && endReason(body);
    return reason ? { reason } : null;
  } catch {
    return null;
  }
}

let comparing: Promise<void> | undefined;

// Compares the session's account with that of the open copy, once for all who ask meanwhile.
export function compare(): Promise<void> {
  if (state.value !== "in" && state.value !== "ended") return Promise.resolve();
  comparing ??= askTwice()
    .then((answer) => (answer && (state.value === "in" || state.value === "ended") ? judge(answer) : undefined))
    .finally(() => (comparing = undefined));
  return comparing;
}

// Sends a request that ends this browser's session and gives it a new one, such as a new password. Until its answer is here,
// which brings the cookie, every tab is refused.
export function renewSession<T>(request: () => Promise<T>): Promise<T> {
  const renewed = (navigator.locks?.request(RENEWAL, request) as Promise<T> | undefined) ?? request();
  renewal = renewed.catch(() => undefined);
  return renewed;
}

let renewal: Promise<unknown> | undefined;

// Before the copy is removed because the session has ended, it is asked again, once no renewal is under way. (On plain http
// there are no locks between tabs: those wait for a moment.)
async function askTwice(): Promise<Answer | null> {
  const answer = await ask();
  if (!answer || "id" in answer || answer.reason !== "session_revoked") return answer;
  await Promise.all([renewal, navigator.locks?.request(RENEWAL, () => undefined), new Promise((done) => setTimeout(done, SECOND_LOOK_MILLISECONDS))]);
  return (await ask()) ?? answer;
}

async function judge(answer: Answer): Promise<void> {
  const current = account.value;
  if ("id" in answer) {
    if (current?.id !== answer.id) {
      await openAccount(answer.id);
      if (!current) return;
      navigate("/", { replace: true });
      toast(t("This browser is signed in to another account now."));
    } else if (state.value === "ended") {
      state.value = "in";
      ended.value = null;
      current.syncer.syncNow();
    }
    return;
  }
  const { reason } = answer;
  const known = current?.id ?? localStorage.getItem(REMEMBERED);
  if (known && (reason === "session_revoked" || reason === "account_deleted")) {
    await leave();
    await copies.strip(known).catch(() => undefined);
    forgetSession();
    forgetDrafts(`draft ${known} `, `usual ${known} `);
    await forgetShared();
    return goOut(reason);
  }
  if (!current) return goOut(known ? reason : null);
  ended.value = reason;
  state.value = "ended";
}

// Closes the open copy: nothing of it is shown, and nothing sent from it.
async function leave(): Promise<void> {
  state.value = "starting";
  const current = account.value;
  account.value = null;
  current?.close();
}

async function goOut(reason: EndReason | "not_ended" | null): Promise<void> {
  await setLanguage(preferredLanguage());
  ended.value = reason;
  const remembered = localStorage.getItem(REMEMBERED);
  // Of other accounts nobody is told here, unless nothing but their edits is left.
  unsentHere.value = (await copies.unsent().catch(() => [])).filter(({ accountId, isStripped }) => isStripped || accountId === remembered);
  state.value = "out";
}

// Opens the copy of the account, which belongs to it alone. That of another account is closed, and its reminders come here
// no more.
async function openAccount(id: string): Promise<void> {
  await leave();
  const former = localStorage.getItem(REMEMBERED);
  if (former !== null && former !== id) await forgetShared();
  const store = await openStore(id);
  wasRemoved.value = localStorage.getItem(FILLED) === id && !isKeptNowhere.value && (await store.get("facts", "account")) === undefined;
  const opened = new Account(id, copies.storeName(id), store, background);
  await opened.open();
  localStorage.setItem(REMEMBERED, id);
  ended.value = null;
  account.value = opened;
  state.value = "in";
  let isPushLooked = false;
  const stop = effect(() => {
    const { syncedAt, error } = opened.sync.value;
    if (syncedAt) {
      localStorage.setItem(FILLED, id);
      void sendKeptAnswers(opened);
      if (!isPushLooked && globalThis.Notification?.permission === "granted") {
        isPushLooked = true;
        void import("../features/notifications/push.ts").then(({ renewPush }) => renewPush(id)).catch(() => undefined);
      }
    }
    if (error instanceof OtherAccountError) void compare();
  });
  // The sync goes on asking until the service answers again.
  const stopProbe = effect(() => {
    if (isUnreachable.value && opened.sync.peek().phase === "idle") opened.syncer.syncNow();
  });
  // What is not sent is to stay. Not asked for before, since Firefox asks the user.
  let isAsked = false;
  const stopKeep = effect(() => {
    const isOffline = isUnreachable.value || opened.sync.value.phase === "offline";
    if (isAsked || !isOffline || opened.pending.value.length === 0) return;
    isAsked = true;
    void navigator.storage?.persist?.();
  });
  opened.onClose = () => {
    stop();
    stopKeep();
    stopProbe();
  };
}

// Answers about what is shared that were given without a network.
async function sendKeptAnswers(opened: Account): Promise<void> {
  if (opened.answers.peek().length === 0) return;
  const { sendAndTell } = await import("../features/sharing/answers.ts");
  await sendAndTell(opened);
}

async function openStore(id: string): Promise<Store & { close(): void }> {
  try {
    const store = await copies.open(id, () => onClosed());
    isKeptNowhere.value = false;
    return store;
  } catch (error) {
    console.warn(error);
    isKeptNowhere.value = true;
    return Object.assign(new MemoryStore(), { close: () => undefined });
  }
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
  localStorage.removeItem(SIGNING_OUT); // the service has ended the session of before
  await judge({ id: user.id });
}

export async function register(form: Record<string, string>): Promise<"in" | "unverified"> {
  const { user } = await connection.ask("POST", "/api/auth/register", form);
  // Where verification is obligatory, nobody is signed in yet.
  const answer = await ask();
  if (!answer || !("id" in answer) || answer.id !== user.id) return "unverified";
  localStorage.removeItem(SIGNING_OUT);
  await openAccount(user.id);
  return "in";
}

// A sign-in through the provider begins: it must not be taken for the session that was to be ended.
export function leaveForProvider(): void {
  localStorage.removeItem(SIGNING_OUT);
}

// Removes what this browser keeps, of whichever account: copies, photos, drafts, the push subscription. Then ends the session.
export async function signOut(): Promise<void> {
  const id = account.value?.id ?? localStorage.getItem(REMEMBERED) ?? "";
  // First, for the other tabs, which load again when their copy is removed.
  localStorage.setItem(SIGNING_OUT, id);
  await leave();
  forgetSession();
  forgetDrafts("draft ", "usual ");
  await copies.removeAll().catch(() => undefined);
  const endpoint = await forgetShared();
  if (endpoint) await forgetPushAtService(endpoint).catch(() => undefined);
  const isEnded = await endSession();
  await goOut(isEnded ? null : "not_ended");
  navigate("/sign-in", { replace: true });
}

// Returns whether nobody is signed in any more.
export async function endSession(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(SIGN_OUT_MILLISECONDS);
    const response = await once.request("POST", "/api/auth/logout", undefined, { signal });
    if (!response.ok && response.status !== 401) return false;
    localStorage.removeItem(SIGNING_OUT);
    return true;
  } catch {
    return false;
  }
}

// The account was deleted here: nothing of it stays, sent or not.
export async function forgetAccount(): Promise<void> {
  const { id } = account.value!;
  await leave();
  forgetSession();
  forgetDrafts(`draft ${id} `, `usual ${id} `);
  await copies.remove(id).catch(() => undefined);
  await forgetShared();
}

function forgetSession(): void {
  for (const key of [REMEMBERED, FILLED, "contacts import", "contacts push"]) localStorage.removeItem(key);
}

// Drafts, and which number or messenger was used last.
function forgetDrafts(...prefixes: string[]): void {
  for (const key of Object.keys(localStorage)) if (prefixes.some((prefix) => key.startsWith(prefix))) localStorage.removeItem(key);
}

// What the browser keeps beside the copies: photos, and the push subscription, whose address it returns.
async function forgetShared(): Promise<string | undefined> {
  for (const name of ["photos", "actions"]) await globalThis.caches?.delete(name);
  try {
    const registration = await navigator.serviceWorker?.getRegistration("/app/");
    const subscription = await registration?.pushManager?.getSubscription();
    await subscription?.unsubscribe();
    return subscription?.endpoint;
  } catch {
    return undefined; // a browser that has none
  }
}

async function forgetPushAtService(endpoint: string): Promise<void> {
  const options = { signal: AbortSignal.timeout(SIGN_OUT_MILLISECONDS) };
  const { subscriptions } = await once.ask("GET", "/api/notifications/push/subscriptions", undefined, options);
  const mine = subscriptions.find((each: { endpoint: string }) => each.endpoint === endpoint);
  if (mine) await once.ask("DELETE", `/api/notifications/push/subscriptions/${mine.id}`, undefined, options);
}
