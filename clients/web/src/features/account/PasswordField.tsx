// A password that can be shown. A new one has the rules of the service below it (accounts/passwords.py), which say while it
// is typed what is missing, and stay.
import { useId, useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { Field } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import "./account.css";

interface Props {
  label: string;
  value: string;
  onValue: (value: string) => void;
  isNew?: boolean;
  error?: string | undefined;
}

const MIN_LENGTH = 8;

const RULES: { label: string; fits: (password: string) => boolean }[] = [
  { label: "8 characters", fits: (password) => [...password].length >= MIN_LENGTH },
  { label: "upper and lower case", fits: (password) => /\p{Lu}/u.test(password) && /\p{Ll}/u.test(password) },
  { label: "a number|in a password", fits: (password) => /\p{Nd}/u.test(password) },
  { label: "another sign, such as - or !", fits: (password) => /[^\p{L}\p{N}\s]/u.test(password) },
];

export function PasswordField({ label: name, value, onValue, isNew = false, error }: Props) {
  const [isShown, setShown] = useState(false);
  const rulesId = useId();
  const typed = value.normalize("NFC");
  return (
    <div class="stack tight">
      <Field label={name} error={error}>
        {(attributes) => (
          <span class="password">
            <input
              {...attributes}
              aria-describedby={[attributes["aria-describedby"], isNew && rulesId].filter(Boolean).join(" ") || undefined}
              type={(isShown ? "text" : "password") as "password"}
              name="password"
              autocomplete={isNew ? "new-password" : "current-password"}
              autocapitalize="off"
              spellcheck={false}
              required
              minLength={isNew ? MIN_LENGTH : undefined}
              enterkeyhint="go"
              value={value}
              onInput={({ currentTarget }) => onValue(currentTarget.value)}
            />
            <button type="button" class="icon" aria-pressed={isShown} aria-label={t("Show what is typed")} onClick={() => setShown(!isShown)}>
              <Icon name="eye" />
            </button>
          </span>
        )}
      </Field>
      {isNew && (
        <ul class="password-rules" id={rulesId}>
          {RULES.map(({ label, fits }) => {
            const isMet = fits(typed);
            return (
              <li key={label} class={isMet ? "met" : ""}>
                <Icon name={isMet ? "check" : "close"} size={14} />
                {t(label)}
                <span class="hidden-text">{isMet ? t("is there|of a password") : t("is missing|of a password")}</span>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
