import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { TextField } from "../../ui/Field.tsx";
import { problemOf } from "../../ui/problems.ts";
import { Gate } from "./Gate.tsx";

// The link of the mail leads to a page of the service, where the new password is typed.
export default function ForgottenPage() {
  const [email, setEmail] = useState("");
  const [answer, setAnswer] = useState<{ text: string; isGood: boolean } | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const { message } = await connection.ask("POST", "/api/auth/forgot-password", { email });
      setAnswer({ text: message, isGood: true });
    } catch (error) {
      setAnswer({ text: problemOf(error).text, isGood: false });
    }
  };
  return (
    <Gate title={t("Forgotten password")}>
      <p>{t("We send a link to your address, with which you choose a new password.")}</p>
      <form class="stack" onSubmit={submit}>
        <TextField label={t("E-mail")} name="email" type="email" autocomplete="username" inputMode="email" required value={email} onValue={setEmail} enterkeyhint="send" />
        {answer && (
          <p class={`banner ${answer.isGood ? "" : "danger"}`} role="status">
            {answer.text}
          </p>
        )}
        <button class="main big">{t("Send the link")}</button>
      </form>
      <p>
        <a href={href("/sign-in")}>{t("Sign in")}</a>
      </p>
    </Gate>
  );
}
