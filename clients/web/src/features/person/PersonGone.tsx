// In place of a page about a person who was deleted, or never was here.
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/Page.tsx";

export function PersonGone() {
  const { sync } = useAccount();
  return (
    <Page title={t("This person is not here")} back="/people">
      <p>{sync.value.progress ? t("Your account is still being read.") : t("They were deleted, or are of another account.")}</p>
      <p>
        <a href={href("/people")}>{t("Go to the people")}</a>
      </p>
    </Page>
  );
}
