// What a screen reader is told without moving the focus: once, and politely.
import { signal } from "@preact/signals";

export const announcement = signal("");

export function announce(text: string): void {
  announcement.value = "";
  // An empty region first, so that the same text is said again.
  setTimeout(() => (announcement.value = text), 50);
}
