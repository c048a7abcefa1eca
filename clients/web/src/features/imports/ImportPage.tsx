// Bringing people in: a file is dropped, chosen or pasted, looked at, and then taken.
import { place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { FileButton } from "./FileButton.tsx";
import { chosen, isPreview } from "./files.ts";
import { History } from "./History.tsx";
import { KeptNote } from "./KeptNote.tsx";
import { Preview } from "./Preview.tsx";
import { Sources } from "./Sources.tsx";
import "./imports.css";

export default function ImportPage() {
  place.value; // the step is in the address
  return isPreview() && chosen.value.length > 0 ? <Preview /> : <Start />;
}

function Start() {
  const account = useAccount();
  return (
    <Page title={t("Bring people in")} width="form">
      <KeptNote account={account} />
      <div class="drop-zone">
        <span class="tile big kind-accent"><Icon name="share" size={26} /></span>
        <h2>{t("Drop files here")}</h2>
        <p class="soft">{t("Contacts of a phone (.vcf), tables (.csv), exports (.json, .zip): as many people as you like.")}</p>
        <FileButton class="button main big" label={t("Choose files")} />
        <p class="soft small">{t("Nothing is written before you have seen it. The same file twice adds nobody twice.")}</p>
      </div>
      <Sources />
      <History />
    </Page>
  );
}
