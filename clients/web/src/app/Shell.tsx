// What surrounds every page: navigation, banners, messages.
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/index.ts";
import { announcement } from "../ui/announce.ts";
import { Confirmation } from "../ui/confirm.tsx";
import { ErrorBoundary, Failed } from "../ui/ErrorBoundary.tsx";
import { Icon } from "../ui/Icon.tsx";
import { KeyHelp, isHelpOpen } from "../ui/KeyHelp.tsx";
import { useKeys } from "../ui/keyboard.ts";
import { Toasts } from "../ui/toast.tsx";
import { Banners } from "./Banners.tsx";
import { isAddOpen } from "./box.ts";
import { Boxes } from "./Boxes.tsx";
import { ENTRIES } from "./navigation.ts";
import { here, href, match, navigate, place, type Route } from "./router.ts";
import { ROUTES } from "./routes.ts";
import { account, ended, startFailure, state } from "./session.ts";
import { SignedOutElsewhere, SignInAgain } from "./SignInAgain.tsx";
import { SignOutDialog } from "./SignOut.tsx";

type PageComponent = ComponentType<{ params: Record<string, string> }>;
const loaded = new Map<Route, PageComponent>();
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
          {isHidden ? <SignedOutElsewhere /> : (
            <ErrorBoundary key={place.value.path} home={href("/people")}>
              <CurrentPage isIn={isIn} />
            </ErrorBoundary>
          )}
        </main>
      </div>
      {isIn && <Boxes />}
      {state.value === "ended" && !isHidden && <SignInAgain />}
      <SignOutDialog />
      <KeyHelp />
      <Confirmation />
      <Toasts />
      <div class="hidden-text" role="status" aria-live="polite">{announcement.value}</div>
    </>
  );
}

function CurrentPage({ isIn }: { isIn: boolean }) {
  const { path } = place.value;
  const found = findRoute(path);
  const isAllowed = found && (isIn || found.route.isOpen);
  const [, setVersion] = useState(0);
  useEffect(() => {
    if (!isIn && !isAllowed) navigate(`/sign-in?next=${encodeURIComponent(here.value)}`, { replace: true });
    else if (isIn && found?.route.isOpen) navigate(nextPath(), { replace: true });
  }, [isIn, isAllowed, path]);
  useEffect(() => {
    const route = found?.route;
    if (!route || loaded.has(route)) return;
    failure.value = null;
    route.load().then(
      (module) => {
        loaded.set(route, module.default);
        setVersion((version) => version + 1);
      },
      (error: unknown) => (failure.value = error),
    );
  }, [found?.route]);
  if (!found) return isIn ? <Missing /> : null;
  if (!isAllowed || (isIn && found.route.isOpen)) return null;
  const Found = loaded.get(found.route);
  if (Found) return <Found key={path} params={found.params} />;
  return failure.value ? <LoadFailed /> : <div class="page" aria-busy="true" />;
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
    <div class="page">
      <h1 tabIndex={-1}>{t("There is nothing here")}</h1>
      <p><a href={href("/people")}>{t("Go to the people")}</a></p>
    </div>
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

function Brand({ class: className, path }: { class: string; path: string }) {
  return (
    <a class={`brand ${className}`} href={path}>
      <img src="/app/icon.svg" alt="" width="28" height="28" />
      {t("Contact network")}
    </a>
  );
}

function Navigation() {
  useKeys([
    { key: "?", label: t("Show the keys"), act: () => (isHelpOpen.value = true) },
    { key: "/", label: t("Search people"), act: () => searchPeople() },
    { key: "n", label: t("New person"), act: () => navigate("/people/new") },
    { key: "l", label: t("Log a contact"), act: () => navigate("/log") },
    { key: "+", label: t("Add something"), act: () => (isAddOpen.value = true) },
  ]);
  const { path } = place.value;
  const settings = account.value!.settings.value;
  const isCurrent = (entry: string) => (entry === "/" ? path === "/" : path === entry || path.startsWith(`${entry}/`));
  return (
    <nav class="app-nav no-print" aria-label={t("Main")}>
      <Brand class="wide-only" path={href("/")} />
      <ul>
        {ENTRIES.map(({ path: target, label, icon, isOnPhone }) => (
          <li key={target} class={isOnPhone ? "" : "wide-only"}>
            <a href={href(target)} aria-current={isCurrent(target) ? "page" : undefined}>
              <Icon name={icon} />
              {t(label)}
            </a>
          </li>
        ))}
        <li>
          <button onClick={() => (isAddOpen.value = true)} aria-haspopup="dialog">
            <Icon name="add" />
            {t("Add")}
          </button>
        </li>
        <li class="narrow-only">
          <a href={href("/more")} aria-current={isCurrent("/more") ? "page" : undefined}>
            <Icon name="menu" />
            {t("More")}
          </a>
        </li>
        <li class="wide-only">
          <a href={href("/account")} aria-current={isCurrent("/account") ? "page" : undefined}>
            <Icon name="settings" />
            {settings.name || t("Account")}
          </a>
        </li>
      </ul>
    </nav>
  );
}

function searchPeople(): void {
  const box = document.querySelector<HTMLInputElement>(".people-bar input");
  if (box) box.focus();
  else navigate("/people?search");
}
