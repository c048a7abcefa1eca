// Push messages of this browser, through the registration of the service worker.
import { connection } from "../../app/session.ts";

export const canPush = () => "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;

export async function ownEndpoint(): Promise<string | null> {
  const registration = canPush() ? await navigator.serviceWorker.getRegistration("/app/") : undefined;
  return (await registration?.pushManager.getSubscription())?.endpoint ?? null;
}

// Asks for the permission, and subscribes. False if the permission was not given or there is no service worker.
export async function subscribeThisBrowser(): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  const registration = await navigator.serviceWorker.getRegistration("/app/");
  if (!registration) return false;
  const { publicKey } = await connection.ask("GET", "/api/notifications/push/public-key");
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey as string });
  const { endpoint, keys } = subscription.toJSON();
  await connection.ask("POST", "/api/notifications/push/subscribe", { endpoint, keys });
  return true;
}

export async function unsubscribeThisBrowser(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration("/app/");
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}
