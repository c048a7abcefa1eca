// The picture in a form: it is chosen, cropped or removed there, and saved with the form.
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { PhotoPicker } from "../../ui/PhotoPicker.tsx";

export interface ChosenPhoto {
  blob: Blob | null; // null removes it
  url: string | null;
}

interface Props {
  person: { id: string; name: string; photo: string | null };
  chosen: ChosenPhoto | null; // null while nothing was chosen
  onChosen: (chosen: ChosenPhoto) => void;
}

export function PhotoField({ person, chosen, onChosen }: Props) {
  const photo = chosen ? chosen.url : person.photo;
  return (
    <div class="photo-field">
      <div class="photo">
        {photo && <Avatar person={{ ...person, photo }} size="big" />}
        <PhotoPicker hasPhoto={photo !== null} name={person.name} save={async (blob) => onChosen({ blob, url: blob && (await dataUrl(blob)) })}>
          {({ choose, remove }) => (
            <>
              <button type="button" class={`photo-button ${photo ? "" : "only-camera"}`} onClick={choose} aria-label={photo ? t("Change the photo") : t("Add a photo")}>
                <Icon name="camera" />
              </button>
              {photo && (
                <button type="button" class="plain icon photo-remove" onClick={remove} aria-label={t("Remove the photo")}>
                  <Icon name="trash" size={18} />
                </button>
              )}
            </>
          )}
        </PhotoPicker>
      </div>
    </div>
  );
}

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
