// A modal dialog by the platform's <dialog>: it keeps the focus inside and gives it back. On a phone it is a sheet, which the
// back button closes. A tap outside closes it only if nothing was typed.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { t } from "../i18n/index.ts";
import { Icon } from "./Icon.tsx";
import { pushSheet } from "./sheets.ts";
import { dialogs, Toasts } from "./toast.tsx";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  footer?: ComponentChildren;
  // Whether closing without a word would lose something: then only the buttons close it.
  keepsOpen?: boolean;
  onSubmit?: () => void;
}

export function Dialog({ title, onClose, children, footer, keepsOpen = false, onSubmit }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const close = useRef(onClose);
  close.current = onClose;
  const layer = useMemo(() => ({}), []);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    const shown = dialog.current;
    shown?.showModal();
    dialog.current?.querySelector<HTMLElement>("[autofocus], .body input, .body select, .body textarea, .body button")?.focus();
    const removeSheet = pushSheet(() => close.current());
    dialogs.value = [...dialogs.peek(), layer];
    return () => {
      dialogs.value = dialogs.peek().filter((each) => each !== layer);
      removeSheet();
      shown?.close(); // else the page below could not take the focus yet
      opener?.focus();
    };
  }, []);
  const content = (
    <>
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="plain icon" onClick={onClose} aria-label={t("Close")}>
          <Icon name="close" />
        </button>
      </header>
      <div class="body">{children}</div>
      {footer && <footer>{footer}</footer>}
    </>
  );
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!keepsOpen) onClose();
      }}
      onClick={(event) => event.target === dialog.current && !keepsOpen && onClose()}
    >
      {onSubmit ? (
        <form
          class="dialog"
          onSubmit={(event) => {
            event.preventDefault();
            event.stopPropagation(); // a form around the dialog is not sent
            onSubmit();
          }}
        >
          {content}
        </form>
      ) : (
        <div class="dialog">{content}</div>
      )}
      <Toasts within={layer} />
    </dialog>
  );
}
