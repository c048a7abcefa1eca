// What stands beside the list of people while nobody is chosen.
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Icon } from "../../ui/Icon.tsx";

export function NobodyChosen() {
  if (useAccount().people.value.length === 0) return null; // the list says so
  return (
    <div class="page">
      <div class="empty nobody-chosen">
        <span class="tile kind-accent">
          <Icon name="people" />
        </span>
        <p>{t("Choose somebody from the list, or type a name.")}</p>
      </div>
    </div>
  );
}
