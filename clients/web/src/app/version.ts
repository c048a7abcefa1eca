// The service worker: it makes the client open without a network, and brings new versions.
import { signal } from "@preact/signals";
import { navigate } from "./router.ts";

const CHECKED_EACH_MILLISECONDS = 60 * 60_000;
export const newVersion = signal<ServiceWorker | null>(null);

export async function startServiceWorker(): Promise<void> {
  // Not on pages loaded over plain http from another machine: browsers offer none there.
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  const registration = await navigator.serviceWorker.register("/app/sw.js", { scope: "/app/", updateViaCache: "none" });
  if (!registration) return; // a browser that blocks workers
  void navigator.serviceWorker.register("/app/home.js", { scope: "/", updateViaCache: "none" }).catch(() => undefined);
  const look = (worker: ServiceWorker | null) => {
    // The first worker is no new version. (Safari says that it is installed when it already has the page.)
    if (!worker || !registration.active) return;
    const note = () => {
      if (worker.state === "installed") newVersion.value = worker;
    };
    worker.addEventListener("statechange", note);
    note();
  };
  look(registration.waiting);
  registration.addEventListener("updatefound", () => look(registration.installing));
  // Actions of notifications that were pressed without a network.
  const tellOnline = () => registration.active?.postMessage("online");
  tellOnline();
  addEventListener("online", tellOnline);
  setInterval(() => void registration.update().catch(() => undefined), CHECKED_EACH_MILLISECONDS);
  navigator.serviceWorker.addEventListener("controllerchange", () => newVersion.value && location.reload());
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    const url = data?.navigate ? new URL(data.navigate, location.href) : null;
    if (url?.pathname.startsWith("/app/")) navigate(`${url.pathname.slice(4)}${url.search}`);
  });
}

// The new worker takes over, then all tabs load again. Drafts survive that.
export function loadNewVersion(): void {
  newVersion.value?.postMessage("activate");
}
