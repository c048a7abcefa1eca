// Dialogs with the form of a record. Of a new one, or of a person's, only the two buttons decide: Save saves, Cancel discards. A
// tap outside and Escape do nothing once something was typed; the back button and the cross close the dialog and keep the draft for
// the next time. What is set once is saved as it is changed, with an undo.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { t } from "../i18n/index.ts";
import { Dialog } from "./Dialog.tsx";
import type { Form, FormEdit } from "./form.ts";
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

interface LiveProps<V extends object> {
  title: string;
  form: Form<V>;
  isReady: boolean;
  toRecord: (values: V) => object;
  onSave: (edit: FormEdit<object>) => Promise<void>;
  onUndo: (before: object) => Promise<void>; // the fields as they were
  onClose: () => void;
  children: ComponentChildren;
}

// Of a record that is there: a change is saved when its field is left.
export function LiveDialog<V extends object>({ title, form, isReady, toRecord, onSave, onUndo, onClose, children }: LiveProps<V>) {
  const latest = useRef({ isReady });
  latest.current = { isReady };
  const save = async () => {
    if (!latest.current.isReady || !form.isChanged) return;
    const before = form.seen;
    const edit = form.edit(toRecord);
    form.endAndStay(edit.changes);
    await onSave(edit);
    toast(t("Saved"), async () => {
      await onUndo(edit.seen);
      form.show(before, edit.seen);
    });
  };
  const close = () => {
    void save();
    onClose();
  };
  return (
    <Dialog title={title} onClose={close} onSubmit={close}>
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      {/* Once what was chosen is rendered, since it decides whether the form is complete. */}
      <div class="stack" onChange={() => setTimeout(save)}>
        {children}
      </div>
      <p class="soft small">{t("What you change is saved at once.")}</p>
    </Dialog>
  );
}

export function GoneNote() {
  return <p class="banner warning">{t("This was deleted elsewhere meanwhile. Saving brings it back.")}</p>;
}
