// The people whose pages were opened last in this browser. They go with the drafts when somebody signs out.
import { personOnScreen } from "./box.ts";

const MAX_RECENT = 5;
const keyOf = (accountId: string) => `draft ${accountId} recent people`;

export function recentPeople(accountId: string): string[] {
  try {
    return JSON.parse(localStorage.getItem(keyOf(accountId)) ?? "[]") as string[];
  } catch {
    return [];
  }
}

export function rememberVisit(accountId: string, path: string): void {
  const id = personOnScreen(path);
  if (!id) return;
  const ids = [id, ...recentPeople(accountId).filter((each) => each !== id)].slice(0, MAX_RECENT + 1);
  try {
    localStorage.setItem(keyOf(accountId), JSON.stringify(ids));
  } catch {
    // No room: the box shows those of before.
  }
}
