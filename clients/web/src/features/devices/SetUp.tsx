// How a device is set up: what it asks for, and the steps of its program (docs/phones.md).
import { useEffect, useRef } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useInstance } from "../../store/instance.ts";
import { CopyLine } from "../../ui/CopyLine.tsx";
import { SelectField } from "../../ui/Field.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { ownPhone } from "./Connect.tsx";
import { type Program, programOptions } from "./words.ts";

const QrCode = lazy(() => import("../../ui/QrCode.tsx"));

interface Props {
  device: { id: string; name: string };
  password: string | null; // null where it was shown before
  program: Program;
  isConnected: boolean; // it has signed in
  onProgram: (program: Program) => void;
  onLook: () => Promise<void>; // whether it has signed in meanwhile
  onClose: () => void;
}

const LOOKED_EACH_MILLISECONDS = 5_000;

export function SetUp({ device, password, program, isConnected, onProgram, onLook, onClose }: Props) {
  const { email } = useAccount().settings.value;
  const heading = useRef<HTMLHeadingElement>(null);
  const server = useInstance()?.baseUrl ?? location.origin; // the operator's address, which need not be the one of this page
  useEffect(() => heading.current?.focus(), [device.id]);
  useEffect(() => {
    if (isConnected) return;
    const timer = setInterval(() => !document.hidden && void onLook(), LOOKED_EACH_MILLISECONDS);
    return () => clearInterval(timer);
  }, [isConnected]);
  return (
    <section class="card stack" aria-labelledby="set-up">
      <h2 id="set-up" tabIndex={-1} ref={heading}>{t("Set up {name}", { name: device.name })}</h2>
      {password ? <p class="banner warning">{t("The app password is shown this once. Keep this page open until the device has signed in.")}</p> : <p class="soft">{t("The app password was shown once. If it is lost, revoke it and add the device again.")}</p>}
      <dl class="stack tight">
        <CopyLine label={t("Address of the server")} value={`${server}/`} />
        <CopyLine label={t("User name")} value={email} />
        {password && <CopyLine label={t("App password")} value={password} />}
      </dl>
      {server.startsWith("http:") && <p class="small">{t("This address is not encrypted: many phones refuse it.")}</p>}
      <SelectField label={t("What it is")} value={program} options={programOptions()} onValue={(value) => onProgram(value as Program)} />
      <Steps device={device} password={password} program={program} server={server} />
      {password && (
        <p class="row" role="status">
          <span class={isConnected ? "pulse" : "pulse waits"} aria-hidden="true" />
          {isConnected ? t("Connected") : t("Waiting for the device to sign in")}
        </p>
      )}
      <div><button class={password ? "main" : undefined} onClick={onClose}>{password ? t("I have kept it") : t("Close")}</button></div>
    </section>
  );
}

function Steps({ device, password, program, server }: Pick<Props, "device" | "password" | "program"> & { server: string }) {
  const { email } = useAccount().settings.value;
  switch (program) {
    case "apple":
      return (
        <>
          <ol class="setting-steps">
            {!ownPhone() && <li><span>{t("Open this page on the device itself, for example with the QR code, and sign in.")}</span></li>}
            <li><span>{t("Load the configuration profile and install it in the settings. It asks for the app password.")}</span></li>
          </ol>
          <div><a class={ownPhone() ? "button main" : "button"} href={`/api/user/devices/${device.id}/profile`}>{t("Configuration profile")}</a></div>
          {!ownPhone() && <QrCode text={`${server}${href(`/devices?device=${device.id}&program=apple`)}`} label={t("QR code that opens this page")} />}
          <p class="soft small">{t("By hand: Settings, Contacts, Accounts, Add Account, Other, Add CardDAV Account.")}</p>
        </>
      );
    case "android":
      return (
        <>
          <ol class="setting-steps">
            <li><span>{t("In DAVx5: Add account, Login with URL and user name. Type what stands above.")}</span></li>
            <li><span>{t("Choose “Groups are per-contact categories”.")}</span></li>
          </ol>
          {password && ownPhone() && <div><a class="button main" href={accountLink(server, email, password)}>{t("Open in DAVx⁵")}</a></div>}
          {password && !ownPhone() && (
            <>
              <QrCode text={accountLink(server, email, password)} label={t("QR code with address, user name and app password")} />
              <p class="soft small">{t("An app that opens links from QR codes hands address, user name and app password to DAVx5. Whoever reads the code has the password.")}</p>
            </>
          )}
        </>
      );
    case "thunderbird":
      return (
        <ol class="setting-steps">
          <li><span>{t("Address Book, New Address Book, Add CardDAV Address Book.")}</span></li>
          <li><span>{t("Type what stands above, and choose the address book that is found.")}</span></li>
        </ol>
      );
    case "gnome":
      return (
        <ol class="setting-steps">
          <li><span>{t("Settings, Online Accounts, Calendar, Contacts and Files (WebDAV). Or in Evolution: File, New, Address Book, CardDAV.")}</span></li>
          <li><span>{t("Type what stands above, and choose the address book that is found.")}</span></li>
        </ol>
      );
    case "other":
      return <p>{t("Add a CardDAV account for people, a CalDAV account for dates. Programs find the rest from the address.")}</p>;
  }
}

// The address of a CardDAV account as DAVx5 takes it: https://manual.davx5.com/integration.html.
function accountLink(server: string, email: string, password: string): string {
  const { protocol, host } = new URL(server);
  const scheme = protocol === "https:" ? "carddavs" : "carddav";
  return `${scheme}://${encodeURIComponent(email)}:${encodeURIComponent(password)}@${host}/`;
}
