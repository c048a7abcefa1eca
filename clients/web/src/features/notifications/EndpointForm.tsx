// The form of a destination, ntfy or webhook, new or known. What was typed is a draft until it is saved, but for the token.
import type { components } from "contacts-client";
import { useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Check, SelectField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";

export type Endpoint = components["schemas"]["Destination"];

export const endpointKey = (accountId: string, endpoint: Endpoint | null) => `${accountId} destination ${endpoint?.id ?? "new"}`;

interface Props {
  endpoint: Endpoint | null;
  // With the secret of a new webhook.
  onSaved: (secret: string | null) => void;
  onClose: () => void;
}

export function EndpointForm({ endpoint, onSaved, onClose }: Props) {
  const { id: accountId } = useAccount();
  const form = useForm(endpointKey(accountId, endpoint), () => ({ type: endpoint?.type ?? "NTFY", label: endpoint?.label ?? "", url: endpoint?.url ?? "" }));
  const [token, setToken] = useState("");
  const [isTokenRemoved, setTokenRemoved] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const { type, label, url } = form.values.value;
  const isNtfy = type === "NTFY";
  const save = async () => {
    setBusy(true);
    setProblem(null);
    try {
      let secret: string | null = null;
      if (!endpoint) {
        const body = { type, label, url, ...(isNtfy && token && { token }) };
        secret = (await connection.ask("POST", "/api/notifications/endpoints", body))["secret"] ?? null;
      } else {
        const body = { ...form.changes, ...(isNtfy && isTokenRemoved ? { token: null } : isNtfy && token && { token }) };
        if (Object.keys(body).length) await connection.ask("PUT", `/api/notifications/endpoints/${endpoint.id}`, body);
      }
      form.end();
      onSaved(secret);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const cancel = () => {
    form.end();
    onClose();
  };
  // The back button and the cross keep the draft for the next time.
  const leave = () => {
    form.store();
    onClose();
  };
  return (
    <Dialog
      title={endpoint ? t("Change {name}", { name: endpoint.label }) : t("New destination")}
      onClose={leave}
      keepsOpen={form.isChanged || token !== ""}
      onSubmit={() => void save()}
      footer={
        <>
          <button type="button" onClick={cancel}>{t("Cancel")}</button>
          <button class="main" disabled={isBusy}>{endpoint ? t("Save") : t("Create")}</button>
        </>
      }
    >
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      {!endpoint && <SelectField label={t("Kind of destination")} value={type} onValue={(value) => form.set("type", value as Endpoint["type"])} options={[["NTFY", t("ntfy")], ["WEBHOOK", t("Webhook")]]} />}
      <TextField label={t("Name")} required maxLength={60} value={label} onValue={(value) => form.set("label", value)} error={problem?.fields["label"]} />
      <TextField label={t("Web address")} type="url" inputMode="url" required maxLength={500} value={url} onValue={(value) => form.set("url", value)} error={problem?.fields["url"]} />
      {isNtfy && !isTokenRemoved && <TextField label={t("Access token, if the topic needs one")} type="password" autocomplete="off" maxLength={255} value={token} onValue={setToken} error={problem?.fields["token"]} hint={endpoint ? t("Empty: as it is.") : undefined} />}
      {isNtfy && endpoint && <Check label={t("Without access token from now on")} isChecked={isTokenRemoved} onChange={setTokenRemoved} />}
      {problem && Object.keys(problem.fields).length === 0 && <ProblemNote problem={problem} />}
    </Dialog>
  );
}
