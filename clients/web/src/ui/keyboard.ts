// Keys that act on a page, with the texts of the help (`?`). They rest while somebody types or a dialog is open.
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { undoLast } from "./toast.tsx";

export interface KeyAction {
  key: string; // as KeyboardEvent.key, such as "/" or "j"
  label: string; // for the help
  act: () => void;
}

export const isHelpOpen = signal(false); // the list of all keys

// All that are active, the newest first.
export const keyActions = signal<KeyAction[]>([]);

// Registers keys while the view is shown. A newer view's keys go before those of an older one.
export function useKeys(actions: KeyAction[], dependencies: unknown[] = []): void {
  // Before the view is seen, so that no key that follows is lost.
  useLayoutEffect(() => {
    keyActions.value = [...actions, ...keyActions.peek()];
    return () => {
      keyActions.value = keyActions.peek().filter((each) => !actions.includes(each));
    };
  }, dependencies);
}

export function startKeyboard(): void {
  addEventListener("keydown", (event) => {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === "z";
    if (isUndo && !event.defaultPrevented && !isTyping(event.target as HTMLElement) && undoLast()) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isComposing(event)) return;
    if (isTyping(event.target as HTMLElement) || document.querySelector("dialog[open], [popover]:popover-open")) return;
    // Enter belongs to what has the focus, if that can be pressed.
    if (event.key === "Enter" && (event.target as HTMLElement).closest?.("a, button, summary, label, input")) return;
    const action = keyActions.peek().find(({ key }) => key === event.key);
    if (!action) return;
    event.preventDefault();
    action.act();
  });
}

// Whether the key belongs to an input method, whose Enter takes the characters over. Safari says so of that Enter by the code alone.
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;

function isTyping(element: HTMLElement): boolean {
  if (element.isContentEditable || element.tagName === "TEXTAREA" || element.tagName === "SELECT") return true;
  return element.tagName === "INPUT" && !["checkbox", "radio", "button"].includes((element as HTMLInputElement).type);
}
