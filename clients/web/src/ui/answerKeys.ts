// Keys for what is to be decided: `1` and `2` choose an answer of the card (`data-decision`) that has the focus, else of the first
// one; Enter gives it. An answer is a button or, of several fields, their radio buttons (`data-key`).
import { useKeys } from "./keyboard.ts";

export function useAnswerKeys(labels: readonly [one: string, other: string]): void {
  useKeys(labels.map((label, at) => ({ key: String(at + 1), label, act: () => choose(String(at + 1)) })), [...labels]);
}

function choose(key: string): void {
  const card = document.activeElement?.closest("[data-decision]") ?? document.querySelector("[data-decision]");
  for (const answer of card?.querySelectorAll<HTMLElement>(`[data-key="${key}"]`) ?? []) {
    answer.focus();
    if (answer instanceof HTMLInputElement) answer.click();
  }
}
