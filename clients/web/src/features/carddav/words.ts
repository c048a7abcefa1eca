// Fields, counts and phases of a sync, in words.
import { t, tn } from "../../i18n/index.ts";

interface Counts {
  imported: number;
  exported: number;
  updatedLocally: number;
  updatedRemotely: number;
  conflicts: number;
  errors: number;
  pendingImports: number;
}

// What a run did, or in a plan would do. Empty if it is nothing.
export function countsInWords(counts: Counts): string[] {
  const { imported, exported, updatedLocally, updatedRemotely, conflicts, errors, pendingImports } = counts;
  return [
    imported && tn("{count} new here", "{count} new here", imported),
    exported && tn("{count} new on the server", "{count} new on the server", exported),
    updatedLocally && tn("{count} changed here", "{count} changed here", updatedLocally),
    updatedRemotely && tn("{count} changed on the server", "{count} changed on the server", updatedRemotely),
    conflicts && tn("{count} conflict", "{count} conflicts", conflicts),
    errors && tn("{count} error", "{count} errors", errors),
    pendingImports && tn("{count} waits to be imported", "{count} wait to be imported", pendingImports),
  ].filter((text): text is string => Boolean(text));
}

export function triggerInWords(trigger: string): string {
  const names: Record<string, string> = {
    manual: t("started by you"),
    automatic: t("by itself"),
    cron: t("by the operator's schedule"),
    command: t("by the operator"),
  };
  return names[trigger] ?? trigger;
}
