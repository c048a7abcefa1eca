// Short messages at the edge of the page, with an undo where something was deleted or changed.
import { signal } from "@preact/signals";
import { t } from "../i18n/index.ts";

interface Toast {
  id: number;
  text: string;
  act: (() => unknown) | undefined;
  label: string;
}

export const TOAST_MILLISECONDS = 10_000;
const toasts = signal<Toast[]>([]);
let lastId = 0;

// `act` is the undo, unless `label` names another action.
export function toast(text: string, act?: () => unknown, label = t("Undo")): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(-2), { id, text, act, label }];
  setTimeout(() => close(id), TOAST_MILLISECONDS);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

// The open dialogs, the topmost last. What is outside of it cannot be pressed, so messages stand in it.
export const dialogs = signal<object[]>([]);

// `within`: the dialog; without one, the page.
export function Toasts({ within }: { within?: object }) {
  if (dialogs.value.at(-1) !== within) return null;
  return (
    <div class="toasts no-print" role="status">
      {toasts.value.map(({ id, text, act, label }) => (
        <div class="toast" key={id}>
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
          <button onClick={() => close(id)} aria-label={t("Close this message")}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
