// The list of settings as a page, where there is no room for it beside another. On a desk it stands beside the page that most
// come for: the code that connects a phone.
import { useEffect } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { isDesk } from "../../ui/media.ts";
import { Page } from "../../ui/Page.tsx";
import { SettingsList } from "./SettingsList.tsx";

export default function SettingsPage() {
  useEffect(() => {
    if (isDesk.value) navigate("/devices", { replace: true });
  }, [isDesk.value]);
  return isDesk.value ? null : (
    <Page title={t("Settings")} back="/more">
      <SettingsList />
    </Page>
  );
}
