// The lock at what of a shared person stays with the user.
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Icon } from "../../ui/Icon.tsx";
import { lockOf, type PrivateField, sharesOf } from "./shares.ts";
import "./sharing.css";

// `field`: one that may be closed; `always`: what never travels.
export function Lock({ person, field, label }: { person: { groupIds: string[] }; field: PrivateField | "always"; label?: string }) {
  const shares = sharesOf(useAccount(), person);
  if (shares.length === 0) return null;
  const text = field === "always" ? t("stays with you") : lockOf(shares, field);
  if (!text) return null;
  return (
    <span class="lock soft" title={text}>
      <Icon name="lock" size={14} />
      <span class="small">{label ? `${label}: ${text}` : text}</span>
    </span>
  );
}
