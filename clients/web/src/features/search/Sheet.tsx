// The frame of the box and of the line: in the upper half of a desk, at the bottom of a phone, above its keyboard.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { takeEarly } from "../../app/box.ts";
import { pushSheet } from "../../ui/sheets.ts";
import "./search.css";

interface Props {
  label: string;
  class: string;
  onClose: () => void;
  onEarly: (text: string, isEntered: boolean) => void; // what was typed before the field was there
  onKeyDown?: (event: KeyboardEvent) => void;
  children: ComponentChildren;
}

export function Sheet({ label, class: className, onClose, onEarly, onKeyDown, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    dialog.current!.showModal();
    dialog.current!.querySelector<HTMLElement>("input, textarea")?.focus();
    const early = takeEarly();
    if (early.text) onEarly(early.text, early.isEntered);
    const removeSheet = pushSheet(() => close.current());
    const shown = dialog.current!;
    return () => {
      removeSheet();
      shown.close(); // else the page below could not take the focus yet
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  // The keyboard of a phone covers the page without making it smaller.
  useEffect(() => {
    const viewport = window.visualViewport;
    if (!viewport) return;
    const place = () => {
      const covered = Math.max(0, innerHeight - viewport.height - viewport.offsetTop);
      dialog.current?.style.setProperty("--covered", `${covered}px`);
    };
    place();
    viewport.addEventListener("resize", place);
    viewport.addEventListener("scroll", place);
    return () => {
      viewport.removeEventListener("resize", place);
      viewport.removeEventListener("scroll", place);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`sheet ${className}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={onKeyDown}
    >
      <div class="sheet-body">{children}</div>
    </dialog>
  );
}
