// The rows of "To decide", one line each: where it is decided, and how many there are by what is known.
import { tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import type { IconName } from "../../ui/Icon.tsx";
import type { Share } from "../sharing/shares.ts";

// Of GET /api/dashboard/stats.
export interface Figures {
  duplicates: number | null; // null before the first search
  suggestions: number | null;
  pendingImports: number;
  conflicts: number;
}

interface Known {
  account: Account;
  invitations: number; // to what others keep together
  figures: Partial<Figures>;
  meetings: number; // that calendars propose to log
}

interface Row {
  path: string;
  icon: IconName;
  count: (known: Known) => number | null | undefined;
  say: (count: number) => string;
}

const ROWS: Row[] = [
  { path: "/unsent#decisions", icon: "warning", count: ({ account }) => account.refused.value.length + account.conflicts.value.length, say: (count) => tn("{count} change needs a decision", "{count} changes need a decision", count) },
  { path: "/unsent", icon: "cloud", count: ({ account }) => account.pending.value.length + account.answers.value.length, say: (count) => tn("{count} change not sent", "{count} changes not sent", count) },
  { path: "/meetings", icon: "log", count: ({ meetings }) => meetings, say: (count) => tn("{count} meeting to log", "{count} meetings to log", count) },
  { path: "/invitation", icon: "mail", count: ({ invitations }) => invitations, say: (count) => tn("{count} invitation to keep people together", "{count} invitations to keep people together", count) },
  { path: "/duplicates", icon: "copy", count: ({ figures }) => figures.duplicates, say: (count) => tn("{count} person may be here twice", "{count} people may be here twice", count) },
  { path: "/relationships/suggestions", icon: "link", count: ({ figures }) => figures.suggestions, say: (count) => tn("{count} tie to confirm", "{count} ties to confirm", count) },
  { path: "/carddav", icon: "people", count: ({ figures }) => figures.pendingImports, say: (count) => tn("{count} contact of your server to bring in", "{count} contacts of your server to bring in", count) },
  { path: "/carddav/conflicts", icon: "swap", count: ({ figures }) => figures.conflicts, say: (count) => tn("{count} difference with your server", "{count} differences with your server", count) },
];

// What waits in each share.
function rowsOf({ id, name, waitingCount, conflictCount }: Share): Row[] {
  return [
    { path: `/shares/${id}/review`, icon: "share", count: () => waitingCount, say: (count) => tn("{count} person waits in “{name}”", "{count} people wait in “{name}”", count, { name }) },
    { path: `/shares/${id}/review#differences`, icon: "swap", count: () => conflictCount, say: (count) => tn("{count} person of “{name}” was changed in two places", "{count} people of “{name}” were changed in two places", count, { name }) },
  ];
}

// Those with something to decide.
export function decisionsOf(known: Known): { path: string; icon: IconName; text: string }[] {
  return [...ROWS, ...known.account.shares.all.flatMap(rowsOf)].flatMap(({ path, icon, count, say }) => {
    const found = count(known);
    return found ? [{ path, icon, text: say(found) }] : [];
  });
}
