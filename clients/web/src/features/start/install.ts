// Whether the client has its own window, and the browser's offer to give it one.
import { signal } from "@preact/signals";

interface InstallPrompt extends Event {
  prompt: () => Promise<{ outcome: "accepted" | "dismissed" }>;
}

export const installPrompt = signal<InstallPrompt | null>(null);
export const isInstalled = signal(matchMedia("(display-mode: standalone)").matches);

// In Firefox the menu has it on phones alone.
export const canBeInstalled = !/Firefox/.test(navigator.userAgent) || /Android/.test(navigator.userAgent);

addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault(); // the browser would show its own
  installPrompt.value = event as InstallPrompt;
});
addEventListener("appinstalled", () => (isInstalled.value = true));

export async function install(): Promise<void> {
  const { outcome } = await installPrompt.value!.prompt();
  installPrompt.value = null;
  if (outcome === "accepted") isInstalled.value = true;
}
