// A question before what cannot be undone. What can be undone is done at once, with an undo in a toast.
import { signal } from "@preact/signals";
import { t } from "../i18n/index.ts";
import { Dialog } from "./Dialog.tsx";

interface Question {
  title: string;
  text: string;
  action: string;
  isDanger: boolean;
  answer: (yes: boolean) => void;
}

const question = signal<Question | null>(null);

export function confirm(title: string, text: string, action: string, isDanger = false): Promise<boolean> {
  return new Promise((done) => {
    question.value = {
      title,
      text,
      action,
      isDanger,
      answer: (yes) => {
        question.value = null;
        done(yes);
      },
    };
  });
}

export function Confirmation() {
  const asked = question.value;
  if (!asked) return null;
  const { title, text, action, isDanger, answer } = asked;
  return (
    <Dialog
      title={title}
      onClose={() => answer(false)}
      footer={
        <>
          <button onClick={() => answer(false)}>{t("Cancel")}</button>
          <button class={isDanger ? "danger" : "main"} onClick={() => answer(true)}>
            {action}
          </button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
}
