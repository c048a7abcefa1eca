// The box "Search or do" (Ctrl or Cmd K, `/`) and the line that adds (`+`): whether they are open, for the navigation and for pages.
import { effect, signal } from "@preact/signals";
import { isComposing } from "../ui/keyboard.ts";

export const isBoxOpen = signal(false);
// Whether people go before what a line says is to be done, as `/` wants it.
export const isPeopleFirst = signal(false);

export function openBox({ peopleFirst = false } = {}): void {
  isPeopleFirst.value = peopleFirst;
  isBoxOpen.value = true;
}

// What the line begins with. `isLog`: something happened, so an empty line is a meeting, not the form of a new person.
export interface LineStart {
  text: string;
  personIds: readonly string[];
  isLog: boolean;
}

export const isAddOpen = signal(false);
export const lineStart = signal<LineStart>({ text: "", personIds: [], isLog: false });

export function openAdd(text = "", personIds: readonly string[] = [], isLog = false): void {
  lineStart.value = { text, personIds, isLog };
  isAddOpen.value = true;
}

// With the session: what was typed is of nobody else.
export function closeBoxes(): void {
  isBoxOpen.value = isAddOpen.value = false;
  lineStart.value = { text: "", personIds: [], isLog: false };
}

// The id of the person whose page this is.
export function personOnScreen(path: string): string | null {
  const id = /^\/people\/([^/]+)/.exec(path)?.[1];
  return id && id !== "new" ? id : null;
}

// What is typed between the key that opens one of them and its first sight: it is loaded then, and nothing is to be lost.
let early = "";

function keep(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isComposing(event)) return;
  if (event.key === "Escape") isBoxOpen.value = isAddOpen.value = false;
  else if (event.key === "Backspace") early = early.slice(0, -1);
  else if (event.key === "Enter") early += "\n";
  else if (event.key.length === 1) early += event.key;
  else return;
  event.preventDefault();
  event.stopPropagation();
}

effect(() => {
  removeEventListener("keydown", keep, { capture: true });
  early = "";
  if (isBoxOpen.value || isAddOpen.value) addEventListener("keydown", keep, { capture: true });
});

export function takeEarly(): { text: string; isEntered: boolean } {
  removeEventListener("keydown", keep, { capture: true });
  return { text: early.replaceAll("\n", ""), isEntered: early.endsWith("\n") };
}
