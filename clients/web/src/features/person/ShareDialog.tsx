// Gives a person to somebody else: as a QR code that a phone reads, or as a file.
import { t } from "../../i18n/index.ts";
import { useRecordsOf } from "../../store/records.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { saveFile } from "../../ui/saveFile.ts";
import type { Person } from "./entries.ts";
import { toVCard } from "./vcard.ts";

const QrCode = lazy(() => import("../../ui/QrCode.tsx"));
const MAX_QR_BYTES = 1200; // more is hard to read from a screen

export function ShareDialog({ person, name, onClose }: { person: Person; name: string; onClose: () => void }) {
  const dates = useRecordsOf("importantDate", person.id).value ?? [];
  const birthday = dates.find(({ type, yearUnknown }) => type === "BIRTHDAY" && !yearUnknown)?.date.slice(0, 10) ?? null;
  const card = toVCard(person, name, birthday);
  const file = () => new File([card], `${name.replace(/[^\p{L}\p{N} ._-]/gu, "")}.vcf`, { type: "text/vcard" });
  const canShare = typeof navigator.share === "function" && navigator.canShare?.({ files: [file()] });
  const download = () => saveFile(file(), name, "vcf");
  return (
    <Dialog
      title={t("Share {name}", { name })}
      onClose={onClose}
      footer={
        <>
          {canShare && <button onClick={() => void navigator.share({ files: [file()] }).catch(() => undefined)}>{t("Share the file")}</button>}
          <button class="main" onClick={download}>
            {t("Download a vCard")}
          </button>
        </>
      }
    >
      {new TextEncoder().encode(card).length <= MAX_QR_BYTES ? (
        <QrCode text={card} label={t("QR code with the contact of {name}", { name })} />
      ) : (
        <p>{t("There is too much for a QR code: use the file.")}</p>
      )}
      <p class="soft small">{t("With names, numbers, addresses and birthday; without your notes.")}</p>
    </Dialog>
  );
}
