// Keys that go through the cards of Today and press their buttons: j and k move, a letter presses the button that has it.
import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { useKeys } from "../../ui/keyboard.ts";

const CARDS = "[data-card]";

export function useCardKeys() {
  const root = useRef<HTMLDivElement>(null);
  const at = useRef<number | null>(null); // of the card that has the focus, for the one that comes in its place
  const cards = () => [...(root.current?.querySelectorAll<HTMLElement>(CARDS) ?? [])];
  const current = () => document.activeElement?.closest<HTMLElement>(CARDS) ?? null;
  const focus = (index: number) => {
    const all = cards();
    all[Math.max(0, Math.min(index, all.length - 1))]?.focus();
  };
  const move = (step: number) => () => {
    const card = current();
    focus(card ? cards().indexOf(card) + step : 0);
  };
  // Without a card that has the focus the first one is meant.
  const press = (letter: string) => () => {
    const card = current() ?? cards()[0];
    const button = card?.querySelector<HTMLElement>(`[data-key="${letter}"]`);
    if (!card || !button) return;
    card.focus();
    button.click();
  };
  useKeys([
    { key: "j", label: t("The next card"), act: move(1) },
    { key: "k", label: t("The card before"), act: move(-1) },
    { key: "c", label: t("Call|somebody"), act: press("c") },
    { key: "w", label: t("Write|to somebody"), act: press("w") },
    { key: "m", label: t("Mail|to somebody"), act: press("m") },
    { key: "d", label: t("Done"), act: press("d") },
    { key: "s", label: t("Later"), act: press("s") },
    { key: "x", label: t("Do not log"), act: press("x") },
  ]);
  // A card that is done leaves with the focus: the next one gets it, before anybody can press something else.
  useLayoutEffect(() => {
    if (at.current === null || root.current?.contains(document.activeElement)) return;
    const index = at.current;
    at.current = null;
    if (document.activeElement === document.body) focus(index);
  });
  return {
    ref: root,
    onFocusIn: () => {
      const card = current();
      at.current = card && cards().indexOf(card);
    },
    // Somebody has gone elsewhere.
    onFocusOut: ({ target, relatedTarget }: FocusEvent) => {
      if (relatedTarget) {
        if (!root.current?.contains(relatedTarget as Node)) at.current = null;
        return;
      }
      const card = (target as HTMLElement).closest(CARDS);
      setTimeout(() => card?.isConnected && !root.current?.contains(document.activeElement) && (at.current = null));
    },
  };
}
