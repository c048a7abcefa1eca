// Short messages at the edge of the page, with an undo where something was deleted or changed. One is shown at a time, the newest;
// those before it come back with what is left of their time.
import { signal } from "@preact/signals";
import { t } from "../i18n/index.ts";
import { Icon } from "./Icon.tsx";

interface Toast {
  id: number;
  text: string;
  act: (() => unknown) | undefined;
  label: string;
  isUndo: boolean;
}

const MESSAGES = "contacts messages"; // "long" in this browser's storage
const MAX_TOASTS = 5;
const HELD_MILLISECONDS = 1_000;
const toasts = signal<Toast[]>([]);
let lastId = 0;
let isHeld = false; // by the pointer or the focus

// Ten seconds, or two minutes where somebody wants to have longer.
export const messagesAreLong = (): boolean => localStorage.getItem(MESSAGES) === "long";
export const messageMilliseconds = (): number => (messagesAreLong() ? 120_000 : 10_000);
export const setMessagesLong = (isLong: boolean): void => localStorage.setItem(MESSAGES, isLong ? "long" : "");

// `act` is the undo, unless `label` names another action.
export function toast(text: string, act?: () => unknown, label?: string): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(1 - MAX_TOASTS), { id, text, act, label: label ?? t("Undo"), isUndo: label === undefined }];
  setTimeout(() => expire(id), messageMilliseconds());
}

function expire(id: number): void {
  if (isHeld && toasts.value.at(-1)?.id === id) setTimeout(() => expire(id), HELD_MILLISECONDS);
  else close(id);
}

function close(id: number): void {
  if (toasts.value.at(-1)?.id === id) isHeld = false;
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

// Takes back what was done last, as its message does. False where there is nothing.
export function undoLast(): boolean {
  const last = toasts.value.findLast(({ isUndo, act }) => isUndo && act);
  if (!last) return false;
  close(last.id);
  void last.act!();
  return true;
}

// The open dialogs, the topmost last. What is outside of it cannot be pressed, so messages stand in it.
export const dialogs = signal<object[]>([]);

// `within`: the dialog; without one, the page.
export function Toasts({ within }: { within?: object }) {
  if (dialogs.value.at(-1) !== within) return null;
  return (
    <div class="toasts no-print" role="status">
      {toasts.value.slice(-1).map(({ id, text, act, label }) => (
        <div class="toast" key={id} onPointerEnter={() => (isHeld = true)} onPointerLeave={() => (isHeld = false)} onFocusIn={() => (isHeld = true)} onFocusOut={() => (isHeld = false)}>
          <span>{text}</span>
          {act && (
            <button
              onClick={() => {
                close(id);
                void act();
              }}
            >
              {label}
            </button>
          )}
          <button class="icon" onClick={() => ((isHeld = false), (toasts.value = []))} aria-label={t("Close this message")}>
            <Icon name="close" size={18} />
          </button>
        </div>
      ))}
    </div>
  );
}
