// On a phone: what does not stand at the bottom.
import { ENTRIES } from "../../app/navigation.ts";
import { href } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";

export default function MorePage() {
  const entries = [...ENTRIES.filter(({ isOnPhone }) => !isOnPhone), { path: "/unsent", label: "Sent and not sent", icon: "cloud" as const }, { path: "/account", label: "Account", icon: "settings" as const }];
  return (
    <Page title={t("More")}>
      <ul class="card stack tight">
        {entries.map(({ path, label, icon }) => (
          <li key={path}>
            <a class="row person-link" href={href(path)}>
              <Icon name={icon} />
              {t(label)}
            </a>
          </li>
        ))}
      </ul>
    </Page>
  );
}
