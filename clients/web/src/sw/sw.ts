// The service worker: the client opens without a network, photos are kept, push messages become notifications. It answers
// nothing below /api/ but photos: all other data live in the copy.
export {}; // a module: its names are its own
declare const self: ServiceWorkerGlobalScope;
declare const __FILES__: string[]; // replaced by the build, see vite.config.ts
declare const __VERSION__: string;

const SHELL = `shell ${__VERSION__}`;
const PHOTOS = "photos";
const MAX_PHOTOS = 12_000;
const PAGE = "/app/";

self.addEventListener("install", (event) => event.waitUntil(precache()));
self.addEventListener("activate", (event) => event.waitUntil(removeOldVersions()));
self.addEventListener("fetch", (event) => {
  const answer = answerTo(event.request);
  if (answer) event.respondWith(answer);
});
// The page asks for it when the user has agreed to load the new version.
self.addEventListener("message", (event) => {
  if (event.data === "activate") void self.skipWaiting();
  if (event.data === "online") event.waitUntil(sendKeptActions());
});

async function precache(): Promise<void> {
  const cache = await caches.open(SHELL);
  await cache.addAll([PAGE, ...__FILES__]);
}

async function removeOldVersions(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith("shell ") && name !== SHELL).map((name) => caches.delete(name)));
  await self.clients.claim();
}

function answerTo(request: Request): Promise<Response> | undefined {
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return undefined;
  if (request.mode === "navigate" && url.pathname.startsWith("/app")) return page(request);
  if (__FILES__.includes(url.pathname)) return cached(SHELL, request);
  // With `v` the address of a photo changes with it.
  if (url.pathname.startsWith("/api/photos/") && url.searchParams.has("v")) return photo(request);
  return undefined;
}

// The page of this version, whose files are all here. A newer one is fetched by the next worker.
async function page(request: Request): Promise<Response> {
  return (await (await caches.open(SHELL)).match(PAGE)) ?? fetch(request);
}

async function cached(name: string, request: Request): Promise<Response> {
  return (await (await caches.open(name)).match(request)) ?? fetch(request);
}

async function photo(request: Request): Promise<Response> {
  const cache = await caches.open(PHOTOS);
  const known = await cache.match(request);
  if (known) return known;
  const response = await fetch(request);
  if (response.ok) {
    await cache.put(request, response.clone());
    if (Math.random() < 0.01) await removeOldestPhotos(cache);
  }
  return response;
}

async function removeOldestPhotos(cache: Cache): Promise<void> {
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, Math.max(0, keys.length - MAX_PHOTOS)).map((key) => cache.delete(key)));
}

interface Notice {
  title: string;
  body: string;
  url: string;
  tag: string;
  actions?: { kind: string; label: string; url: string }[];
}

self.addEventListener("push", (event) => {
  const notice = event.data?.json() as Notice | undefined;
  if (!notice) return;
  const { title, body, url, tag, actions = [] } = notice;
  const options = {
    body,
    tag,
    icon: "/app/icon-192.png",
    badge: "/app/icon-192.png",
    data: { url },
    actions: actions.slice(0, 2).map((action) => ({ action: action.url, title: action.label })),
  };
  event.waitUntil(self.registration.showNotification(title, options as NotificationOptions));
});

// docs/reminder-actions.md: the link is the credential, and only a POST acts.
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(event.action ? act(event.action) : showPage((event.notification.data as { url: string }).url));
});
self.addEventListener("sync", (event) => (event as ExtendableEvent).waitUntil(sendKeptActions()));

const ACTIONS = "actions";

// Without a network it is kept, and sent when there is one: the browser says so, or the page.
async function act(link: string): Promise<void> {
  if (await post(link)) return;
  await (await caches.open(ACTIONS)).put(link, new Response());
  const { sync } = self.registration as { sync?: { register(tag: string): Promise<void> } };
  await sync?.register(ACTIONS).catch(() => undefined);
}

// A browser says that it is online before a request gets through.
const PAUSES_MILLISECONDS = [0, 1_000, 4_000, 15_000];

async function sendKeptActions(): Promise<void> {
  if (!(await caches.has(ACTIONS))) return;
  const kept = await caches.open(ACTIONS);
  for (const pause of PAUSES_MILLISECONDS) {
    await new Promise((done) => setTimeout(done, pause));
    for (const { url } of await kept.keys()) if (await post(url)) await kept.delete(url);
    if ((await kept.keys()).length === 0) return;
  }
}

// Whether the service has heard it. What it says of it changes nothing: a link that is too old stays so.
async function post(link: string): Promise<boolean> {
  try {
    await fetch(link, { method: "POST", mode: "no-cors", keepalive: true });
    return true;
  } catch {
    return false;
  }
}

async function showPage(link: string): Promise<void> {
  // Links of notices that were sent before.
  const url = link.replace(/^(https?:\/\/[^/]+)?\/people\//, "$1/app/people/");
  const pages = await self.clients.matchAll({ type: "window" });
  const open = pages.find((client) => new URL(client.url).pathname.startsWith("/app"));
  if (!open) return void (await self.clients.openWindow(url));
  await open.focus();
  open.postMessage({ navigate: url });
}
