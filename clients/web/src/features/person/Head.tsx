// Who a person is: the picture, which is a button, the name, role, town and local time, the relationship to the user, groups.
import type { ComponentChildren } from "preact";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { PhotoPicker } from "../../ui/PhotoPicker.tsx";
import { Lock } from "../sharing/Lock.tsx";
import { SharedWith } from "../sharing/SharedWith.tsx";
import type { Person } from "./entries.ts";
import { GroupsSection } from "./GroupsSection.tsx";
import { useLocalTime } from "./localTime.ts";

interface Props {
  person: Person;
  name: string;
  heading: ComponentChildren;
  onPhoto: (picture: Blob | null) => Promise<void>;
}

export function Head({ person, name, heading, onPhoto }: Props) {
  const account = useAccount();
  const time = useLocalTime(person);
  const work = person.jobTitle && person.organization ? t("{role}, {organization}", { role: person.jobTitle, organization: person.organization }) : person.jobTitle || person.organization;
  const town = person.addresses.find(({ locality }) => locality)?.locality;
  const type = account.relationshipTypes.byId.value.get(person.relationshipToUserId ?? "")?.label;
  const spoken = [person.phoneticSurname, person.phoneticName].filter(Boolean).join(" ");
  const isUnsent = account.pending.value.some(({ type: kind, id }) => kind === "person" && id === person.id);
  return (
    <div class={`who ${person.deathday ? "deceased" : ""}`}>
      <div class="photo">
        <Avatar person={{ id: person.id, name, photo: person.photo }} size="large" alt={t("Photo of {name}", { name })} />
        <PhotoPicker hasPhoto={Boolean(person.photo)} name={name} save={onPhoto}>
          {({ choose, remove }) =>
            person.photo ? (
              <Menu class="photo-button no-print" label={t("Change the photo of {name}", { name })} items={[{ label: t("Choose another photo"), onSelect: choose }, { label: t("Remove the photo"), isDanger: true, onSelect: remove }]}>
                <Icon name="camera" />
              </Menu>
            ) : (
              <button type="button" class="photo-button empty-photo no-print" onClick={choose} aria-label={t("Add a photo of {name}", { name })}>
                <Icon name="camera" />
              </button>
            )
          }
        </PhotoPicker>
      </div>
      <div class="who-text">
        {heading}
        {spoken && <p class="soft">{spoken}</p>}
        {work && (
          <p>
            <bdi>{work}</bdi>
          </p>
        )}
        <p class="bio">
          {account.meId === person.id && <Fact icon="people">{t("This is you.")}</Fact>}
          {town && <Fact icon="location">{town}</Fact>}
          {time && <Fact icon="clock">{t("{time} there", { time })}</Fact>}
          {type && (
            <Fact icon="link">
              <span class="hidden-text">{t("To you:")} </span>
              {type}
            </Fact>
          )}
          {person.quiet && <Fact icon="bell">{t("Quiet")}</Fact>}
          {isUnsent && <Fact icon="cloud">{t("kept here")}</Fact>}
        </p>
        {person.groupIds.length > 0 && <GroupsSection groupIds={person.groupIds} />}
        <SharedWith person={person} />
        {person.photo && <Lock person={person} field="photo" label={t("Photo")} />}
      </div>
    </div>
  );
}

function Fact({ icon, children }: { icon: IconName; children: ComponentChildren }) {
  return (
    <span class="fact">
      <Icon name={icon} size={16} />
      <bdi>{children}</bdi>
    </span>
  );
}
