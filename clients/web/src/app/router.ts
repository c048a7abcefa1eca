// Real paths below /app, by the history API. A page is loaded when it is opened.
import { computed, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { type Scroller, scrollerOf } from "../ui/scroll.ts";

export const BASE = "/app";

interface Place {
  path: string; // without /app
  query: URLSearchParams;
}

export interface Route {
  path: string; // with parameters: /people/:id
  load: () => Promise<{ default: ComponentType<{ params: Record<string, string> }> }>;
  isOpen?: boolean; // also without a session
  isForAll?: boolean; // and with one, too
  isFirst?: boolean; // its texts are loaded with the client
  pane?: "people" | "settings"; // the list beside it on a desk
  aside?: Route["load"]; // at its other side on a wide screen
}

export const place = signal<Place>(readPlace());
const scrolls = new Map<string, number>();

// The path and its query as they are written in links.
export const here = computed(() => `${place.value.path}${place.value.query.size ? `?${place.value.query}` : ""}`);

function readPlace(): Place {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, "") || "/";
  return { path, query: new URLSearchParams(location.search) };
}

export function href(path: string): string {
  return `${BASE}${path}`;
}

export function navigate(path: string, { replace = false } = {}): void {
  if (path === here.value) return;
  scrolls.set(historyKey(), scrollerOfPage().offset);
  // The entry of an open dialog is not one to come back to.
  replace ||= Boolean(history.state?.sheet);
  history[replace ? "replaceState" : "pushState"]({ key: crypto.getRandomValues(new Uint32Array(1))[0] }, "", href(path));
  place.value = readPlace();
  scrollerOfPage().scrollTo(0);
}

// Changes parameters of the query in place; null removes one. Filters and searches are thus addresses.
export function setQuery(changes: Record<string, string | null>): void {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  history.replaceState(history.state, "", href(`${place.value.path}${query.size ? `?${query}` : ""}`));
  place.value = readPlace();
}

export function goBack(otherwise: string): void {
  if (history.state?.key) history.back();
  else navigate(otherwise, { replace: true });
}

// The pane of the page, or the window.
function scrollerOfPage(): Scroller {
  return scrollerOf(document.querySelector(".panes > .pane:last-child"));
}

function historyKey(): string {
  return String(history.state?.key ?? "first");
}

// Returns the parameters of the path if it matches.
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(":")) params[part.slice(1)] = decode(given[index]!);
    else if (part !== given[index]) return null;
  }
  return params;
}

// As it is, if it is no percent-encoding, such as `%` alone.
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Links to pages of the client are opened here; all others by the browser.
export function startRouter(): void {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => {
    const before = here.value;
    place.value = readPlace();
    if (here.value === before) return; // a dialog was closed
    const top = scrolls.get(historyKey()) ?? 0;
    requestAnimationFrame(() => requestAnimationFrame(() => scrollerOfPage().scrollTo(top)));
  });
  addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a");
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !(url.pathname === BASE || url.pathname.startsWith(`${BASE}/`))) return;
    event.preventDefault();
    navigate(`${url.pathname.slice(BASE.length) || "/"}${url.search}`);
  });
}
