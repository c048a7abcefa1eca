// Light, dark, or as the system. The account has LIGHT and DARK; "as the system" is this browser's own.
import { effect, signal } from "@preact/signals";
import { account } from "./session.ts";

export type Theme = "system" | "account";
const KEY = "contacts theme";

export const theme = signal<Theme>(localStorage.getItem(KEY) === "account" ? "account" : "system");

export function setTheme(wanted: Theme): void {
  localStorage.setItem(KEY, wanted);
  theme.value = wanted;
}

export function startTheme(): void {
  effect(() => {
    const wanted = theme.value === "account" ? account.value?.settings.value.theme?.toLowerCase() : undefined;
    if (wanted) document.documentElement.dataset["theme"] = wanted;
    else delete document.documentElement.dataset["theme"];
  });
}
