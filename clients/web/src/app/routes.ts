// All pages. Each is a chunk of its own, loaded when it is opened; the service worker has them all.
import type { Route } from "./router.ts";

export const ROUTES: Route[] = [
  { path: "/", load: () => import("../features/start/StartPage.tsx") },
  { path: "/sign-in", load: () => import("../features/account/SignInPage.tsx"), isOpen: true },
  { path: "/register", load: () => import("../features/account/RegisterPage.tsx"), isOpen: true },
  { path: "/forgotten", load: () => import("../features/account/ForgottenPage.tsx"), isOpen: true },
  { path: "/people", load: () => import("../features/people/PeoplePage.tsx"), isFirst: true, pane: "people" },
  { path: "/people/new", load: () => import("../features/person/NewPersonPage.tsx"), pane: "people" },
  { path: "/people/:id", load: () => import("../features/person/PersonPage.tsx"), pane: "people" },
  { path: "/people/:id/family", load: () => import("../features/person/FamilyPage.tsx") },
  { path: "/people/:id/network", load: () => import("../features/network/NetworkPage.tsx") },
  { path: "/network", load: () => import("../features/network/NetworkPage.tsx") },
  { path: "/map", load: () => import("../features/map/MapPage.tsx") },
  { path: "/log", load: () => import("../features/person/LogPage.tsx") },
  { path: "/account", load: () => import("../features/account/AccountPage.tsx"), pane: "settings" },
  { path: "/account/data", load: () => import("../features/account/DataPage.tsx"), pane: "settings" },
  { path: "/account/preferences", load: () => import("../features/preferences/PreferencesPage.tsx"), pane: "settings" },
  { path: "/account/security", load: () => import("../features/account/SecurityPage.tsx"), pane: "settings" },
  { path: "/dates", load: () => import("../features/dates/DatesPage.tsx") },
  { path: "/dates/new", load: () => import("../features/dates/NewDatePage.tsx") },
  { path: "/groups", load: () => import("../features/groups/GroupsPage.tsx") },
  { path: "/groups/:id", load: () => import("../features/groups/GroupPage.tsx") },
  { path: "/relationships", load: () => import("../features/relationships/TypesPage.tsx"), pane: "settings" },
  { path: "/relationships/suggestions", load: () => import("../features/relationships/SuggestionsPage.tsx") },
  { path: "/custom-fields", load: () => import("../features/groups/CustomFieldsPage.tsx"), pane: "settings" },
  { path: "/duplicates", load: () => import("../features/cleanup/DuplicatesPage.tsx") },
  { path: "/duplicates/compare", load: () => import("../features/cleanup/ComparePage.tsx") },
  { path: "/trash", load: () => import("../features/cleanup/TrashPage.tsx") },
  { path: "/import", load: () => import("../features/imports/ImportPage.tsx") },
  { path: "/import/:id", load: () => import("../features/imports/ReceiptPage.tsx") },
  { path: "/notifications", load: () => import("../features/notifications/NotificationsPage.tsx"), pane: "settings" },
  { path: "/carddav", load: () => import("../features/carddav/CardDavPage.tsx"), pane: "settings" },
  { path: "/carddav/conflicts", load: () => import("../features/carddav/CardDavPage.tsx"), pane: "settings" },
  { path: "/calendar-feeds", load: () => import("../features/feeds/FeedsPage.tsx"), pane: "settings" },
  { path: "/letters", load: () => import("../features/letters/LettersPage.tsx") },
  { path: "/devices", load: () => import("../features/devices/DevicesPage.tsx"), pane: "settings" },
  { path: "/settings", load: () => import("../features/settings/SettingsPage.tsx") },
  { path: "/more", load: () => import("../features/more/MorePage.tsx") },
  { path: "/unsent", load: () => import("../features/sync/UnsentPage.tsx") },
];

// The lists that stand beside pages on a desk.
export const LISTS: Record<NonNullable<Route["pane"]>, Route> = {
  people: ROUTES.find(({ path }) => path === "/people")!,
  settings: { path: "/settings", load: () => import("../features/settings/SettingsList.tsx") },
};
