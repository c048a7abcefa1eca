// Inputs with a visible label, a hint and an error that belong to them.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  children: (attributes: { id: string; "aria-describedby": string | undefined; "aria-invalid": boolean | undefined }) => ComponentChildren;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": note ? `${id}-note` : undefined, "aria-invalid": error ? true : undefined })}
      {note && (
        <p id={`${id}-note`} class={error ? "error" : "hint"}>
          {note}
        </p>
      )}
    </div>
  );
}

interface InputProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: string | undefined;
  error?: string | undefined;
  type?: "date" | "email" | "number" | "password" | "search" | "tel" | "text" | "time" | "url";
  name?: string;
  autocomplete?: string;
  autocapitalize?: "off" | "words" | "sentences";
  autoFocus?: boolean;
  enterkeyhint?: "done" | "go" | "next" | "search" | "send";
  inputMode?: "decimal" | "email" | "numeric" | "search" | "tel" | "text" | "url";
  max?: string;
  maxLength?: number;
  min?: string;
  minLength?: number;
  placeholder?: string;
  required?: boolean;
}

export function TextField({ label, value, onValue, hint, error, ...others }: InputProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => <input {...(others as { type?: "text" })} {...attributes} value={value} onInput={({ currentTarget }) => onValue(currentTarget.value)} />}
    </Field>
  );
}

interface AreaProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: string;
  error?: string | undefined;
  maxLength?: number;
  rows?: number;
}

export function AreaField({ label, value, onValue, hint, error, ...others }: AreaProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => <textarea {...others} {...attributes} value={value} onInput={({ currentTarget }) => onValue(currentTarget.value)} />}
    </Field>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  onValue: (value: string) => void;
  hint?: string;
  error?: string | undefined;
}

export function SelectField({ label, value, options, onValue, hint, error }: SelectProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
          {options.map(([key, text]) => (
            <option key={key} value={key} selected={key === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  label: ComponentChildren;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}

export function Check({ label, isChecked, onChange }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isChecked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
