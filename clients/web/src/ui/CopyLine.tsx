// A value to carry to another program: one tap selects all of it, and a button copies it.
import { t } from "../i18n/index.ts";
import { Icon } from "./Icon.tsx";
import { toast } from "./toast.tsx";

// Stands in a <dl>.
export function CopyLine({ label, value }: { label: string; value: string }) {
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    toast(t("Copied"));
  };
  return (
    <div class="copy-line">
      <dt class="soft small">{label}</dt>
      <dd>
        <code>{value}</code>
        {/* Absent on plain http. */}
        {"clipboard" in navigator && (
          <button type="button" class="plain icon" onClick={() => void copy()} aria-label={t("Copy {value}", { value: label })}>
            <Icon name="copy" />
          </button>
        )}
      </dd>
    </div>
  );
}
