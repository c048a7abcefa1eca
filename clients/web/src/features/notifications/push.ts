// Push messages of this browser, through the registration of the service worker.
import { connection } from "../../app/session.ts";

const TOLD = "contacts push"; // the account of which this browser is to be told

export const canPush = () => "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;

const registered = async () => (canPush() ? navigator.serviceWorker.getRegistration("/app/") : undefined);

export async function ownEndpoint(): Promise<string | null> {
  return (await (await registered())?.pushManager.getSubscription())?.endpoint ?? null;
}

// Asks for the permission, and subscribes. False if the permission was not given or there is no service worker.
export async function subscribeThisBrowser(accountId: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  const registration = await registered();
  if (!registration) return false;
  await subscribe(registration, await publicKey());
  localStorage.setItem(TOLD, accountId);
  return true;
}

export async function unsubscribeThisBrowser(): Promise<void> {
  localStorage.removeItem(TOLD);
  await (await (await registered())?.pushManager.getSubscription())?.unsubscribe();
}

// At the start: a subscription that the browser or the service has ended, or whose key is not the service's any more, is
// made anew. Nobody is asked for it: the permission is there.
export async function renewPush(accountId: string): Promise<void> {
  const registration = await registered();
  if (!registration || Notification.permission !== "granted") return;
  const known = await registration.pushManager.getSubscription();
  if (!known && localStorage.getItem(TOLD) !== accountId) return;
  localStorage.setItem(TOLD, accountId);
  const [key, { subscriptions }] = await Promise.all([publicKey(), connection.ask("GET", "/api/notifications/push/subscriptions")]);
  const isKnown = (subscriptions as { endpoint: string }[]).some(({ endpoint }) => endpoint === known?.endpoint);
  if (known && isKnown && isKey(known.options.applicationServerKey, key)) return;
  await known?.unsubscribe();
  await subscribe(registration, key);
}

async function publicKey(): Promise<string> {
  return (await connection.ask("GET", "/api/notifications/push/public-key"))["publicKey"];
}

async function subscribe(registration: ServiceWorkerRegistration, key: string): Promise<void> {
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  await connection.ask("POST", "/api/notifications/push/subscribe", { endpoint, keys });
}

// Whether the bytes of a subscription are those of a key as the service writes it (base64url).
export function isKey(bytes: ArrayBuffer | null, key: string): boolean {
  if (!bytes) return false;
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "") === key.replace(/=+$/, "");
}
