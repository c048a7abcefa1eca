// Mail, and the browsers that are told by push messages.
import type { components } from "contacts-client";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useInstance } from "../../store/instance.ts";
import { useAttempt, useRemote } from "../../store/remote.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { browserName } from "../account/SecurityPage.tsx";
import { SwitchLine } from "../settings/rows.tsx";
import { NoMail } from "../settings/NoMail.tsx";
import { canPush, ownEndpoint, subscribeThisBrowser, unsubscribeThisBrowser } from "./push.ts";
import { test } from "./words.ts";

type Schemas = components["schemas"];
type Channels = ReturnType<typeof useRemote<Record<string, any>>>;

export function Email({ channels: [found, reload] }: { channels: Channels }) {
  const { email, emailVerified } = useAccount().settings.value;
  const instance = useInstance();
  const [problem, attempt] = useAttempt(reload);
  const { data } = found.value;
  const set = async (enabled: boolean) => {
    await attempt(() => connection.ask("PUT", "/api/notifications/email", { enabled }));
  };
  const isSent = instance?.mail !== false;
  return (
    <>
      {(problem ?? found.value.problem) && <div class="setting-note"><ProblemNote problem={problem ?? found.value.problem} onRetry={() => void reload()} /></div>}
      <SwitchLine
        label={t("Mail")}
        hint={!isSent ? <NoMail /> : emailVerified === false ? t("{address} is not verified yet: nothing is sent there before.", { address: email }) : email}
        isOn={Boolean(data?.["email"].enabled)}
        isDisabled={!data}
        onChange={(enabled) => set(enabled).then(() => toast(t("Saved"), () => set(!enabled)))}
      />
    </>
  );
}

export function PushDevices({ channels: [channels] }: { channels: Channels }) {
  const account = useAccount();
  const { settings } = account;
  const [found, reload] = useRemote("push devices", async (signal) => {
    const [{ subscriptions }, own] = await Promise.all([
      connection.ask("GET", "/api/notifications/push/subscriptions", undefined, { signal }),
      ownEndpoint(),
    ]);
    return { devices: subscriptions as Schemas["PushDevice"][], own };
  });
  const [problem, attempt] = useAttempt(reload);
  const { data } = found.value;
  const isConfigured: boolean | undefined = channels.value.data?.["push"].configured;
  const remove = (device: Schemas["PushDevice"]) =>
    attempt(async () => {
      if (device.endpoint === data?.own) await unsubscribeThisBrowser();
      await connection.ask("DELETE", `/api/notifications/push/subscriptions/${device.id}`);
    });
  const shown = problem ?? (channels.value.problem ? null : found.value.problem); // above it is said already
  const here = data?.devices.find(({ endpoint }) => endpoint === data.own);
  const subscribe = () =>
    attempt(async () => {
      const isDone = await subscribeThisBrowser(account.id);
      toast(isDone ? t("This browser is told from now on.") : t("The browser does not allow it. Look at its settings of this site."));
    });
  const hint = isConfigured === false ? t("This service has no keys for push.") : !canPush() ? t("This browser cannot receive push messages. On an iPhone, put the client on the home screen first.") : t("Also while the page is closed");
  const testButton = (device: Schemas["PushDevice"], name: string) => (
    <button onClick={() => void attempt(() => test(`/api/notifications/push/subscriptions/${device.id}`))} aria-label={t("Test {name}", { name })}>{t("Test")}</button>
  );
  return (
    <>
      {shown && <div class="setting-note"><ProblemNote problem={shown} /></div>}
      <SwitchLine label={t("This browser")} hint={hint} isOn={Boolean(here)} isDisabled={!data || isConfigured === false || !canPush()} onChange={(isOn) => (isOn ? subscribe() : here && remove(here))} />
      {data?.devices.map((device) => {
        const name = browserName(device.userAgent);
        return (
          <div key={device.id} class="setting">
            <span class="setting-text">
              <span class="setting-label">{name}{device === here && ` · ${t("this browser")}`}</span>
              {device.lastSuccessAt && <span class="soft small">{t("Last reached {when}", { when: timeInWords(device.lastSuccessAt, settings.value.timezone) })}</span>}
            </span>
            <span class="row">
              {testButton(device, name)}
              {device !== here && <button class="danger" onClick={() => void remove(device)} aria-label={t("Remove {name}", { name })}>{t("Remove")}</button>}
            </span>
          </div>
        );
      })}
    </>
  );
}
