// Who you are.
import { useEffect, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { askToSignOut } from "../../app/SignOut.tsx";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { TextField } from "../../ui/Field.tsx";
import { useInstance } from "../../store/instance.ts";
import { useForm } from "../../ui/form.ts";
import { Page } from "../../ui/Page.tsx";
import { PhotoPicker } from "../../ui/PhotoPicker.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { NoMail } from "../settings/NoMail.tsx";

export default function AccountPage() {
  const account = useAccount();
  const user = account.settings.value;
  const savePhoto = async (picture: Blob | null) => {
    if (picture) await connection.setPhoto("user", picture);
    else await connection.ask("DELETE", "/api/user/photo");
    account.syncer.syncNow();
    if (!picture) toast(t("The photo was removed."));
  };
  return (
    <Page title={t("You|settings")} back="/settings" width="form">
      <section class="card stack" aria-label={t("You|settings")}>
        <div class="row">
          <Avatar person={{ id: "user", name: user.name || "?", photo: user.photo }} size="large" isUser alt={t("Your photo")} />
          <PhotoPicker hasPhoto={Boolean(user.photo)} save={savePhoto} />
        </div>
        <Profile />
      </section>
      <p><button onClick={() => void askToSignOut()}>{t("Sign out")}</button></p>
    </Page>
  );
}

// Saved when a field is left, with an undo.
function Profile() {
  const account = useAccount();
  const { name, surname, nickname, email, emailVerified } = account.settings.value;
  const current = { name, surname: surname ?? "", nickname: nickname ?? "", email };
  const form = useForm(`${account.id} profile`, () => current);
  useEffect(() => form.follow(current), Object.values(current));
  const [problem, setProblem] = useState<Problem | null>(null);
  const isMailSent = useInstance()?.mail !== false;
  const values = form.values.value;
  const field = (key: keyof typeof values) => ({ value: values[key], onValue: (value: string) => form.set(key, value), error: problem?.fields[key] });
  const put = async (changes: object) => {
    const { emailChanged } = await connection.ask("PUT", "/api/user/profile", { name, email, ...changes });
    account.syncer.syncNow();
    return emailChanged as boolean;
  };
  const save = async () => {
    if (!form.isChanged) return;
    setProblem(null);
    const before = { name, surname, nickname, email };
    try {
      const { changes } = form.edit((typed) => ({ ...typed, surname: typed.surname || null, nickname: typed.nickname || null }));
      const emailChanged = await put(changes);
      form.endAndStay();
      if (emailChanged && isMailSent) toast(t("Saved. We have sent a link to the new address."));
      else toast(t("Saved"), () => put(before).catch((error: unknown) => setProblem(problemOf(error))));
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const sendAgain = async () => {
    const { message } = await connection.ask("POST", "/api/auth/resend-verification", { email }).catch((error: unknown) => ({ message: problemOf(error).text }));
    toast(message);
  };
  return (
    <form
      class="stack"
      onChange={() => void save()}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField label={t("Given name")} name="name" autocomplete="given-name" required maxLength={100} {...field("name")} />
      <TextField label={t("Surname")} name="surname" autocomplete="family-name" maxLength={100} {...field("surname")} />
      <TextField label={t("Nickname")} name="nickname" autocomplete="nickname" maxLength={100} {...field("nickname")} />
      <TextField label={t("E-mail")} name="email" type="email" inputMode="email" autocomplete="email" required {...field("email")} />
      {!emailVerified && (
        <p class="banner warning">
          {isMailSent ? (
            <>
              <span>{t("This address is not verified yet. Open the link that we have sent to it.")}</span>
              <button type="button" onClick={() => void sendAgain()}>{t("Send the link again")}</button>
            </>
          ) : (
            <span>{t("This address is not verified yet.")} <NoMail /></span>
          )}
        </p>
      )}
      {problem && Object.keys(problem.fields).length === 0 && <ProblemNote problem={problem} />}
    </form>
  );
}
