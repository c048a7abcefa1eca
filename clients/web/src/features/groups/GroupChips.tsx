// Whom a picture shows: everybody, or a group. It is in the address.
import { place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { nearestHue } from "../../ui/hue.ts";
import "../../styles/bleed.css";

export function GroupChips() {
  const account = useAccount();
  const chosen = place.value.query.get("group");
  const groups = account.groups.all.sort((one, other) => one.name.localeCompare(other.name));
  const chip = (id: string | null, name: string, hue?: string) => (
    <button key={id ?? ""} class={`chip ${chosen === id ? "chosen" : ""}`} aria-pressed={chosen === id} onClick={() => setQuery({ group: id })}>
      {hue && <span class={`dot ${hue}`} />}
      {name}
    </button>
  );
  return (
    <div class="bleed-chips" role="group" aria-label={t("Group")}>
      {chip(null, t("Everybody"))}
      {groups.map(({ id, name, color }) => chip(id, name, nearestHue(color)))}
    </div>
  );
}
