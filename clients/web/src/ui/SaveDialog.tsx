// A dialog with the form of a record. Only its two buttons decide: Save saves, Cancel discards. A tap outside and Escape do
// nothing once something was typed; the back button and the cross close the dialog and keep the draft for the next time.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { t } from "../i18n/index.ts";
import { Dialog } from "./Dialog.tsx";
import type { Form } from "./form.ts";
import { toast } from "./toast.tsx";

interface Props<V extends object> {
  title: string;
  form: Form<V>;
  isReady?: boolean;
  // Whether the record was deleted since it was opened: a save brings it back.
  isGone?: boolean;
  onSave: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}

export function SaveDialog<V extends object>({ title, form, isReady = true, isGone = false, onSave, onClose, children }: Props<V>) {
  const isSaving = useRef(false);
  const end = () => {
    form.end();
    onClose();
  };
  const save = async () => {
    if (!isReady || isSaving.current) return;
    isSaving.current = true; // a second tap must not create a second record
    try {
      await onSave();
    } finally {
      isSaving.current = false;
    }
    end();
  };
  const leave = () => {
    form.store();
    if (form.isChanged) toast(t("What you typed is kept here. It was not saved yet."));
    onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={leave}
      keepsOpen={form.isChanged}
      onSubmit={() => void save()}
      footer={
        <>
          <button type="button" onClick={end}>
            {t("Cancel")}
          </button>
          <button class="main" disabled={!isReady}>
            {t("Save")}
          </button>
        </>
      }
    >
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      {isGone && <GoneNote />}
      {children}
    </Dialog>
  );
}

export function GoneNote() {
  return <p class="banner warning">{t("This was deleted elsewhere meanwhile. Saving brings it back.")}</p>;
}
