// What surrounds every page: navigation, banners, messages.
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { NobodyChosen } from "../features/people/NobodyChosen.tsx";
import { loadAllTexts, t } from "../i18n/index.ts";
import { announcement } from "../ui/announce.ts";
import { Confirmation } from "../ui/confirm.tsx";
import { ErrorBoundary, Failed } from "../ui/ErrorBoundary.tsx";
import { isHelpOpen } from "../ui/keyboard.ts";
import { lazy } from "../ui/lazy.tsx";
import { isDesk, isWide } from "../ui/media.ts";
import { Page } from "../ui/Page.tsx";
import { Toasts } from "../ui/toast.tsx";
import { Banners } from "./Banners.tsx";
import { Boxes } from "./Boxes.tsx";
import { Brand } from "./Brand.tsx";
import { startDrops } from "./drops.ts";
import { Navigation } from "./Navigation.tsx";
import { here, href, match, navigate, place, type Route } from "./router.ts";
import { LISTS, ROUTES } from "./routes.ts";
import { ended, startFailure, state, unsentAtSignOut } from "./session.ts";

const KeyHelp = lazy(() => import("../ui/KeyHelp.tsx"));
const SignedOutElsewhere = lazy(async () => ({ default: (await import("./SignInAgain.tsx")).SignedOutElsewhere }));
const SignInAgain = lazy(async () => ({ default: (await import("./SignInAgain.tsx")).SignInAgain }));
const SignOutDialog = lazy(async () => ({ default: (await import("./SignOut.tsx")).SignOutDialog }));

type PageComponent = ComponentType<{ params: Record<string, string> }>;
type Loaded = Pick<Route, "load" | "isFirst">;
const loaded = new Map<Route["load"], PageComponent>();
const failure = signal<unknown>(null);

export function Shell() {
  return (
    <ErrorBoundary>
      <Frame />
    </ErrorBoundary>
  );
}

function Frame() {
  // Without a session in this browser nothing of the copy is shown: somebody has signed out, or somebody else sits here.
  const isHidden = state.value === "ended" && ended.value !== "session_expired";
  const isIn = state.value === "in" || (state.value === "ended" && !isHidden);
  useEffect(() => (isIn ? startDrops() : undefined), [isIn]);
  if (startFailure.value) return <Failed error={startFailure.value} />;
  if (state.value === "starting") return <div class="app" aria-busy="true" />;
  return (
    <>
      <a class="button skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>("h1")?.focus(); }}>
        {t("Skip to the content")}
      </a>
      <div class={isIn ? "app" : ""}>
        {isIn && <Navigation />}
        <main id="main" class="app-main">
          {isIn ? <Banners /> : <Brand class="app-brand" path="/" />}
          {isHidden ? <SignedOutElsewhere /> : <Panes isIn={isIn} />}
        </main>
      </div>
      {isIn && <Boxes />}
      {state.value === "ended" && !isHidden && <SignInAgain />}
      {unsentAtSignOut.value && <SignOutDialog />}
      {isHelpOpen.value && <KeyHelp />}
      <Confirmation />
      <Toasts />
      <div class="hidden-text" role="status" aria-live="polite">{announcement.value}</div>
    </>
  );
}

// From 70rem on a list stays at the left while the page beside it changes; from 100rem on some have a third pane.
function Panes({ isIn }: { isIn: boolean }) {
  const { path, query } = place.value;
  const found = findRoute(path);
  const route = found?.route;
  const list = isIn && isDesk.value && route?.pane ? LISTS[route.pane] : undefined;
  useLoaded(list);
  const List = list && loaded.get(list.load);
  const aside = list && isWide.value ? route?.aside : undefined;
  useLoaded(aside && { load: aside });
  const Aside = aside && loaded.get(aside);
  const isListAlone = list !== undefined && list === route;
  const isTable = isListAlone && query.get("view") === "table";
  return (
    <div class={list && !isTable ? "panes beside" : "panes"}>
      {list && (
        <div class="pane list-pane" key="list">
          <ErrorBoundary home={href("/people")}>{List && <List params={{}} />}</ErrorBoundary>
        </div>
      )}
      {!isTable && (
        <div class="pane" key="page">
          <ErrorBoundary key={path} home={href("/people")}>
            {isListAlone ? <NobodyChosen /> : <CurrentPage isIn={isIn} />}
          </ErrorBoundary>
        </div>
      )}
      {Aside && (
        <aside class="pane aside-pane no-print" key="aside">
          <ErrorBoundary key={path} home={href("/people")}><Aside params={found!.params} /></ErrorBoundary>
        </aside>
      )}
    </div>
  );
}

function CurrentPage({ isIn }: { isIn: boolean }) {
  const { path } = place.value;
  const found = findRoute(path);
  const isAllowed = found && (isIn || found.route.isOpen);
  useEffect(() => {
    if (!isIn && !isAllowed) navigate(`/sign-in?next=${encodeURIComponent(here.value)}`, { replace: true });
    else if (isIn && found?.route.isOpen && !found.route.isForAll) navigate(nextPath(), { replace: true });
  }, [isIn, isAllowed, path]);
  useLoaded(found?.route);
  if (!found) return isIn ? <Missing /> : null;
  if (!isAllowed || (isIn && found.route.isOpen && !found.route.isForAll)) return null;
  const Found = loaded.get(found.route.load);
  if (Found) return <Found key={path} params={found.params} />;
  return failure.value ? <LoadFailed /> : <div class="page" aria-busy="true" />;
}

// Loads the page of a route, with its texts, and renders again when it is there.
function useLoaded(route: Loaded | undefined): void {
  const [, setVersion] = useState(0);
  useEffect(() => {
    if (!route || loaded.has(route.load)) return;
    failure.value = null;
    Promise.all([route.load(), route.isFirst || loadAllTexts()]).then(
      ([module]) => {
        loaded.set(route.load, module.default);
        setVersion((version) => version + 1);
      },
      (error: unknown) => (failure.value = error),
    );
  }, [route?.load]);
}

// Where the user wanted to go before the sign-in. Only pages of the client.
function nextPath(): string {
  const next = place.value.query.get("next") ?? "/";
  return next.startsWith("/") && !next.startsWith("//") ? next : "/";
}

function findRoute(path: string): { route: Route; params: Record<string, string> } | undefined {
  for (const route of ROUTES) {
    const params = match(route.path, path);
    if (params) return { route, params };
  }
  return undefined;
}

function Missing() {
  return (
    <Page title={t("There is nothing here")}>
      <p><a class="button" href={href("/people")}>{t("Go to the people")}</a></p>
    </Page>
  );
}

// A page of a version whose files are gone, or no network before the service worker had it.
function LoadFailed() {
  return (
    <div class="page">
      <h1 tabIndex={-1}>{t("This page could not be loaded")}</h1>
      <p>{t("What you have typed is kept. Load the client again when there is a network.")}</p>
      <p><button class="main" onClick={() => location.reload()}>{t("Load again")}</button></p>
    </div>
  );
}
