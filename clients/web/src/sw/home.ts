// The worker of the bare address: without a network, or without the service, it leads on to the client, which opens from
// what sw.ts has. Everything else it leaves to the browser. Pages below /app/ have sw.ts, whose scope is nearer to them.
export {};
declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode !== "navigate" || new URL(request.url).pathname !== "/") return;
  event.respondWith(fetch(request).catch(() => Response.redirect("/app/", 302)));
});
