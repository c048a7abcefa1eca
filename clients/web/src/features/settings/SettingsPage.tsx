// The list of settings as a page, where there is no room for it beside another.
import { useEffect } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/Page.tsx";
import SettingsList from "./SettingsList.tsx";

export default function SettingsPage() {
  const isBeside = matchMedia("(min-width: 70rem)").matches;
  useEffect(() => {
    if (isBeside) navigate("/account", { replace: true });
  }, []);
  return isBeside ? null : (
    <Page title={t("Settings")} back="/more">
      <SettingsList />
    </Page>
  );
}
