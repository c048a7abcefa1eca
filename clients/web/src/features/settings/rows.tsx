// The lines of a page of settings: what it is and how it stands at the left, the control at the right. A change is saved as it
// is made, with an undo.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import "./settings.css";

// Returns what the service refused, and a function that saves `body` at a path below /api/user, and with the undo `before`.
export function useChange(): [Problem | null, (path: string, body: object, before: object, shown?: (isUndo: boolean) => unknown) => Promise<void>] {
  const { syncer, settings } = useAccount();
  const [problem, setProblem] = useState<Problem | null>(null);
  // What was saved here and is not in the copy yet: an undo that follows leads back to it.
  const saved = useRef(new Map<string, object>());
  useEffect(() => saved.current.clear(), [settings.value]);
  const put = async (path: string, body: object) => {
    setProblem(null);
    try {
      await connection.ask("PUT", `/api/user/${path}`, body);
      saved.current.set(path, body);
      syncer.syncNow();
      return true;
    } catch (error) {
      setProblem(problemOf(error));
      return false;
    }
  };
  const change = async (path: string, body: object, before: object, shown?: (isUndo: boolean) => unknown) => {
    const undone = saved.current.get(path) ?? before;
    shown?.(false);
    const isSaved = await put(path, body);
    if (!isSaved) return void shown?.(true);
    toast(t("Saved"), () => {
      shown?.(true);
      void put(path, undone);
    });
  };
  return [problem, change];
}

export function Section({ title, action, children }: { title: string; action?: ComponentChildren; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {action}
      </header>
      {children}
    </section>
  );
}

interface LineProps {
  label: ComponentChildren;
  hint?: ComponentChildren;
  children?: (ids: { id: string; "aria-describedby": string | undefined }) => ComponentChildren; // the control
}

export function Line({ label, hint, children }: LineProps) {
  const id = useId();
  return (
    <div class="setting">
      <span class="setting-text">
        {children ? <label for={id}>{label}</label> : <span class="setting-label">{label}</span>}
        {hint && <span class="soft small" id={`${id}-hint`}>{hint}</span>}
      </span>
      {children?.({ id, "aria-describedby": hint ? `${id}-hint` : undefined })}
    </div>
  );
}

export function SwitchLine({ label, hint, isOn, isDisabled = false, onChange }: { label: string; hint?: ComponentChildren; isOn: boolean; isDisabled?: boolean; onChange: (isOn: boolean) => unknown }) {
  return (
    <Line label={label} hint={hint}>
      {(ids) => <input {...ids} type="checkbox" role="switch" class="switch" checked={isOn} disabled={isDisabled} onChange={({ currentTarget }) => void onChange(currentTarget.checked)} />}
    </Line>
  );
}

export function ChoiceLine({ label, hint, value, options, onValue }: { label: string; hint?: ComponentChildren; value: string; options: readonly (readonly [value: string, label: string])[]; onValue: (value: string) => unknown }) {
  return (
    <Line label={label} hint={hint}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ currentTarget }) => void onValue(currentTarget.value)}>
          {options.map(([key, text]) => (
            <option key={key} value={key} selected={key === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Line>
  );
}
