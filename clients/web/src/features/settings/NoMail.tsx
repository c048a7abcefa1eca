// That mails do not leave this instance: it must not be promised then.
import { t } from "../../i18n/index.ts";

export function NoMail() {
  return (
    <>
      {t("This instance sends no mail yet.")} <span class="block">{t("For its operator: set EMAIL_URL to a mail server, such as smtps://user:password@mail.example.org.")}</span>
    </>
  );
}
