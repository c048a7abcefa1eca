// Files that are dropped anywhere, and people that are pasted, lead to their preview. What a field or a page takes itself is
// left to it.
import { place } from "./router.ts";

const HAS_PEOPLE = /^\s*(item\d+\.)?BEGIN\s*:\s*VCARD/i;

export function startDrops(): () => void {
  const root = document.documentElement;
  const leave = () => delete root.dataset["drop"];
  const listeners: Partial<{ [K in keyof WindowEventMap]: (event: WindowEventMap[K]) => void }> = {
    dragover: (event) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      root.dataset["drop"] = "over";
    },
    dragleave: (event) => void (event.relatedTarget === null && leave()),
    drop: (event) => {
      leave();
      const files = [...(event.dataTransfer?.files ?? [])];
      if (event.defaultPrevented || files.length === 0) return;
      event.preventDefault();
      void load().then(({ bring }) => bring(files));
    },
    paste: (event) => {
      const isField = (event.target as Element).closest?.("input, textarea, [contenteditable]");
      const files = [...(event.clipboardData?.files ?? [])];
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (event.defaultPrevented || isField || document.querySelector("dialog[open]")) return;
      const isHere = place.value.path === "/import";
      // A picture that is pasted on a page is nobody's file of people.
      if (files.length ? isHere : text.trim() && (isHere || HAS_PEOPLE.test(text))) void load().then(({ bring, bringText }) => (files.length ? bring(files) : bringText(text)));
      else if (text.includes("\n")) void load().then(({ bringTable }) => bringTable(text));
    },
  };
  for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener as EventListener);
  return () => {
    for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener as EventListener);
  };
}

const load = () => import("../features/imports/files.ts");
