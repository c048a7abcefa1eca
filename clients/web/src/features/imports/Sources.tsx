// Where people are now, and what is needed to bring them from there.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { AreaField } from "../../ui/Field.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { FileButton } from "./FileButton.tsx";
import { bringText } from "./files.ts";

interface Source {
  id: string;
  label: string;
  hint: string;
  icon: IconName;
  kind: string;
}

const SOURCES: Source[] = [
  { id: "phone", label: "On a phone", hint: "Share the contacts as a file, or connect it", icon: "device", kind: "touch" },
  { id: "google", label: "Google", hint: "Export from your contacts there", icon: "people", kind: "date" },
  { id: "icloud", label: "iCloud", hint: "In step both ways, or once as a file", icon: "cloud", kind: "place" },
  { id: "nextcloud", label: "Nextcloud, a server", hint: "Stays in step, both ways", icon: "swap", kind: "accent" },
  { id: "outlook", label: "Outlook", hint: "Export from the program or the web", icon: "mail", kind: "note" },
  { id: "products", label: "Monica, Nametag, LinkedIn", hint: "With dates, ties and notes", icon: "group", kind: "tie" },
  { id: "typed", label: "Typed or copied", hint: "Paste lines or a table", icon: "copy", kind: "accent" },
];

export function Sources() {
  const [open, setOpen] = useState<Source | null>(null);
  const close = () => setOpen(null);
  return (
    <section class="section">
      <header><h2>{t("Where are your people now?")}</h2></header>
      <div class="sources">
        {SOURCES.map((source) => (
          <button key={source.id} type="button" class="source" aria-haspopup="dialog" onClick={() => setOpen(source)}>
            <span class={`tile kind-${source.kind}`}><Icon name={source.icon} size={18} /></span>
            <span class="grow"><strong>{t(source.label)}</strong><span class="soft small block">{t(source.hint)}</span></span>
            <Icon name="next" size={16} />
          </button>
        ))}
      </div>
      {open?.id === "typed" && <Typed onClose={close} />}
      {open && open.id !== "typed" && (
        <Dialog title={t(open.label)} onClose={close}>
          <Help id={open.id} />
        </Dialog>
      )}
    </section>
  );
}

function Help({ id }: { id: string }) {
  const file = <FileButton class="button main" label={t("Choose files")} />;
  switch (id) {
    case "phone":
      return (
        <>
          <Way title={t("Once, as a file")} steps={[t("iPhone: Contacts, Lists, hold a list, Export."), t("Android: Contacts, Organise or Fix and manage, Export to file."), t("Open this page on the phone and choose the file, or send it to this computer.")]}>{file}</Way>
          <Way title={t("In step, both ways")} steps={[t("The phone’s own address book shows the people from here, and what is changed there comes here.")]}>
            <a class="button" href={href("/devices")}>{t("Phones and computers")}</a>
          </Way>
        </>
      );
    case "google":
      return (
        <Way title={t("As a file")} steps={[t("Open contacts.google.com and choose Export."), t("Google CSV or vCard, both are right. Then drop the file here.")]}>
          {file}
          <a class="button" href="https://contacts.google.com" target="_blank" rel="noreferrer">contacts.google.com</a>
        </Way>
      );
    case "icloud":
      return (
        <>
          <Way title={t("In step, both ways")} steps={[t("At account.apple.com, Sign-In and Security, make an app-specific password."), t("Server: {address}. User name: your Apple Account’s e-mail address.", { address: "contacts.icloud.com" })]}>
            <Server address="https://contacts.icloud.com" />
          </Way>
          <Way title={t("Once, as a file")} steps={[t("At icloud.com/contacts select all, and choose Export vCard.")]}>{file}</Way>
        </>
      );
    case "nextcloud":
      return (
        <>
          <Way title={t("In step, both ways")} steps={[t("In Nextcloud: Settings, Security, Create new app password."), t("Server: the address at which you open Nextcloud. Others: the address that your provider names for CardDAV.")]}>
            <Server />
          </Way>
          <Way title={t("Once, as a file")} steps={[t("In Nextcloud’s Contacts: the menu of an address book, Download.")]}>{file}</Way>
        </>
      );
    case "outlook":
      return (
        <Way title={t("As a file")} steps={[t("On the web: People, Manage contacts, Export contacts."), t("In the program: File, Open and Export, Import/Export, Export to a file, CSV.")]}>{file}</Way>
      );
    default:
      return (
        <>
          <Way title="Monica" steps={[t("Settings, Export data: JSON, or SQL.")]} />
          <Way title="Nametag" steps={[t("Settings, Export: JSON.")]} />
          <Way title="LinkedIn" steps={[t("Settings, Data privacy, Get a copy of your data: Connections. The archive is right as it is.")]} />
          <p class="row">{file}</p>
        </>
      );
  }
}

function Way({ title, steps, children }: { title: string; steps: string[]; children?: ComponentChildren }) {
  return (
    <section class="stack tight">
      <h3>{title}</h3>
      <ol class="import-steps">{steps.map((step) => <li key={step}>{step}</li>)}</ol>
      {children && <p class="row">{children}</p>}
    </section>
  );
}

function Server({ address }: { address?: string }) {
  return <a class="button main" href={href(`/carddav${address ? `?server=${encodeURIComponent(address)}` : ""}`)}>{t("Address book on a server")}</a>;
}

function Typed({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  return (
    <Dialog title={t("Typed or copied")} onClose={onClose} keepsOpen={text !== ""} onSubmit={() => text.trim() && void bringText(text)} footer={<button class="main" disabled={!text.trim()}>{t("Look at them")}</button>}>
      <AreaField label={t("One person in each line, a table, or a vCard")} hint={t("Such as: Ana García, +34 600 111 222, ana@example.org")} rows={8} value={text} onValue={setText} />
    </Dialog>
  );
}
