// All that is set once, as one list with a search. On a phone it is the page /settings, from 70rem it stands beside each of
// its pages.
import { useState } from "preact/hooks";
import { href, place } from "../../app/router.ts";
import { askToSignOut } from "../../app/SignOut.tsx";
import { t } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Setting, SETTINGS } from "./entries.ts";
import { useStates } from "./states.ts";
import "./settings.css";

// As it stands beside its pages.
export default function SettingsPane() {
  return (
    <Page title={t("Settings")} isBeside>
      <SettingsList />
    </Page>
  );
}

export function SettingsList() {
  const [typed, setTyped] = useState("");
  const states = useStates();
  const { path } = place.value;
  const words = fold(typed).split(/\s+/).filter(Boolean);
  const isFound = ({ label, hint, key }: Setting) => words.every((word) => fold(`${t(label)} ${t(hint)} ${states[key] ?? ""}`).includes(word));
  const found = SETTINGS.filter(isFound);
  return (
    <nav class="settings-list" aria-label={t("Settings")}>
      <label class="search-field">
        <Icon name="search" size={18} />
        <span class="hidden-text">{t("Find a setting")}</span>
        <input type="search" placeholder={t("Find a setting")} value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
      </label>
      <ul>
        {found.map(({ key, path: target, label, hint, icon, kind }) => (
          <li key={key}>
            <a href={href(target)} aria-current={isAt(path, target) ? "page" : undefined}>
              <span class={`tile kind-${kind}`}><Icon name={icon} size={18} /></span>
              <span>
                {t(label)}
                <span class="soft small block">{states[key] ?? t(hint)}</span>
              </span>
            </a>
          </li>
        ))}
        {found.length === 0 && <li class="soft" role="status">{t("No setting is called so.")}</li>}
        {words.length === 0 && (
          <li>
            <button class="plain" onClick={() => void askToSignOut()}>
              <span class="tile"><Icon name="leave" size={18} /></span>
              {t("Sign out")}
            </button>
          </li>
        )}
      </ul>
    </nav>
  );
}

// /account has other pages below it, which are entries of their own.
function isAt(path: string, target: string): boolean {
  return path === target || (target !== "/account" && path.startsWith(`${target}/`) && path !== "/relationships/suggestions");
}
