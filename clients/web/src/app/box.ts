// The box "Search or do" (Ctrl or Cmd K) and the line that adds (`+`): whether they are open, for the navigation and for pages.
import { signal } from "@preact/signals";

export const isBoxOpen = signal(false);
export const isAddOpen = signal(false);
// What stands in the line when it is opened.
export const addText = signal("");

export function openAdd(text = ""): void {
  addText.value = text;
  isAddOpen.value = true;
}
