// A person: who it is, how to reach them, what there was together. Only what is filled is shown. A tap turns a section into its
// form, Edit all of them into one.
import { useEffect, useState } from "preact/hooks";
import { navigate, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRecord, useRecordsOf } from "../../store/records.ts";
import { hasDraft } from "../../ui/form.ts";
import { hueOf } from "../../ui/hue.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Menu } from "../../ui/Menu.tsx";
import { Page } from "../../ui/Page.tsx";
import { reveal } from "../../ui/scroll.ts";
import { toast } from "../../ui/toast.tsx";
import { deletePeople } from "../people/actions.ts";
import { intervalLabel } from "../people/intervals.ts";
import { personPath, shownIds } from "../people/listed.ts";
import { setUsual, usual } from "../people/reach.ts";
import { Lock } from "../sharing/Lock.tsx";
import { AboutSection, hasDetails } from "./AboutSection.tsx";
import { COMPOSER_LINE } from "./Composer.tsx";
import { CONTACT_FIELDS } from "./ContactForm.tsx";
import { ContactSection } from "./ContactSection.tsx";
import { DatesSection } from "./DatesSection.tsx";
import type { Person } from "./entries.ts";
import { Glance } from "./Glance.tsx";
import { Head } from "./Head.tsx";
import { setMe } from "./me.ts";
import { Notes } from "./Notes.tsx";
import { PersonGone } from "./PersonGone.tsx";
import { pressTile, ReachBar } from "./ReachBar.tsx";
import { RelationshipsSection } from "./RelationshipsSection.tsx";
import { areLettersShown, EditButton, SectionHead } from "./SectionHead.tsx";
import { draftKey, SectionForm, WHOLE } from "./SectionForm.tsx";
import { SECTION_NAMES, type SectionName, SECTIONS } from "./sections.tsx";
import { ShareDialog } from "./ShareDialog.tsx";
import { Timeline } from "./Timeline.tsx";
import "./person.css";

type Open = SectionName | typeof WHOLE;
const FORMS: readonly Open[] = [...SECTION_NAMES, WHOLE];
const LETTERS_MILLISECONDS = 5000; // that the letters of the sections wait for one

export default function PersonPage({ params }: { params: Record<string, string> }) {
  const id = params["id"]!;
  const record = useRecord("person", id).value;
  if (record === undefined) return <div class="page" aria-busy="true" />;
  if (record === null) return <PersonGone />;
  return <OnePerson key={id} person={record} />;
}

function OnePerson({ person }: { person: Person }) {
  const account = useAccount();
  const { id } = person;
  const name = account.person(id)?.name || person.name;
  // A section whose form was left with a draft is open again; a link may open one.
  const drafts = () => FORMS.filter((section) => hasDraft(draftKey(account.id, id, section)));
  const [open, setOpen] = useState<ReadonlySet<Open>>(() => new Set([...drafts(), ...FORMS.filter((section) => section === place.value.query.get("edit"))]));
  const [focus, setFocus] = useState<string>();
  const [dialog, setDialog] = useState<"share" | "date" | "relationship" | null>(null);
  const edit = (section: Open, first?: string) => {
    setFocus(first);
    setOpen(new Set([...open, section]));
  };
  const end = (section: Open) => setOpen(new Set([...open].filter((each) => each !== section)));
  useEffect(() => {
    if (place.value.query.has("edit")) setQuery({ edit: null });
    const reopen = () => setOpen(new Set(drafts()));
    addEventListener("drafts", reopen);
    return () => removeEventListener("drafts", reopen);
  }, [id]);
  const log = () => {
    const line = document.getElementById(COMPOSER_LINE);
    line?.focus({ preventScroll: true });
    reveal(line?.closest("section"));
  };
  useSectionKeys(edit, setDialog, [id, open]);
  const step = (by: number) => {
    const listed = shownIds.peek();
    // Who was led here from elsewhere may not be in the list.
    const ids = listed.includes(id) ? listed : account.people.value.map((row) => row.id);
    const next = ids[ids.indexOf(id) + by];
    if (next) navigate(personPath(next), { replace: true });
  };
  useKeys(
    [
      { key: "c", label: t("Call"), act: () => pressTile("call") },
      { key: "m", label: t("Write a message"), act: () => pressTile("message") },
      { key: "w", label: t("Write a mail"), act: () => pressTile("mail") },
      { key: "l", label: t("Log a contact"), act: log },
      { key: "[", label: t("The person before"), act: () => step(-1) },
      { key: "]", label: t("The next person"), act: () => step(1) },
    ],
    [id, open],
  );
  const savePhoto = async (picture: Blob | null) => {
    const before = await readPhoto(person.photo && account.connection.photoUrl(person));
    await account.copy.setPhoto(id, picture);
    const undo = before || !person.photo ? () => account.copy.setPhoto(id, before) : undefined;
    toast(picture ? t("The photo was changed.") : t("The photo was removed."), undo);
  };
  const remove = () => {
    void deletePeople(account, [id]);
    navigate("/people");
  };
  const isMe = account.meId === id;
  const isWhole = open.has(WHOLE);
  const hasContact = CONTACT_FIELDS.some((field) => person[field].length > 0);
  const dates = useRecordsOf("importantDate", id).value;
  const relationships = useRecordsOf("relationship", id).value;
  const birthday = dates?.find(({ type }) => type === "BIRTHDAY") ?? null;
  const missing: [key: string, label: string, isThere: boolean, add: () => void][] = [
    ["contact", t("Phone, e-mail, address"), hasContact, () => edit("contact")],
    ["date", t("Birthday"), dates === undefined || dates.length > 0, () => setDialog("date")],
    ["relationship", t("Relationship"), relationships === undefined || relationships.length > 0, () => setDialog("relationship")],
    ["relation", t("Relationship to you"), person.relationshipToUserId !== null, () => edit("relation")],
    ["groups", t("Groups"), person.groupIds.length > 0, () => edit("groups")],
    ["notes", t("Notes"), Boolean(person.notes), () => edit("notes")],
    ["details", t("Organization and more"), hasDetails(person), () => edit("details")],
    ["reminder", t("Get in touch every …"), person.contactReminderEnabled, () => edit("reminder")],
  ];
  const chips = missing.filter(([key, , isThere]) => !isThere && !open.has(key as Open));
  return (
    <Page
      title={name}
      back="/people"
      class={`person ${hueOf(id)}`}
      heading={<bdi>{name}</bdi>}
      head={({ back, heading }) => (
        <header class="hero">
          <div class="hero-bar no-print">
            {back}
            <span class="grow" />
            <button
              class={`plain icon star ${person.favourite ? "on" : ""}`}
              aria-pressed={person.favourite}
              aria-label={t("{name} is a favourite", { name })}
              onClick={() => void account.copy.update("person", id, { favourite: !person.favourite })}
            >
              <Icon name="star" />
            </button>
            <button class="plain icon" aria-label={t("Share {name}", { name })} onClick={() => setDialog("share")}>
              <Icon name="share" />
            </button>
            {!isWhole && (
              <button class="plain" onClick={() => edit(WHOLE)}>
                <Icon name="edit" size={18} />
                {t("Edit")}
                {areLettersShown.value && <kbd>e</kbd>}
              </button>
            )}
            <Menu
              label={t("More about {name}", { name })}
              items={[
                { label: t("Edit the name"), onSelect: () => edit("name") },
                { label: t("Groups"), onSelect: () => edit("groups") },
                { label: t("Relationship to you"), onSelect: () => edit("relation") },
                { label: person.quiet ? t("No longer quiet") : t("Make quiet: no reminders, not in lists of days"), onSelect: () => void account.copy.update("person", id, { quiet: !person.quiet }) },
                usual(account.id, id, "message") !== null && { label: t("Ask again how to write a message"), onSelect: () => setUsual(account.id, id, "message", null) },
                { label: isMe ? t("This is not me") : t("This is me"), onSelect: () => void setMe(account, isMe ? null : id) },
                { label: t("Their network"), onSelect: () => navigate(`/people/${id}/network`) },
                { label: t("The family on one sheet"), onSelect: () => navigate(`/people/${id}/family`) },
                { label: t("Print"), onSelect: () => print() },
                { label: t("Delete"), isDanger: true, onSelect: remove },
              ]}
            >
              <Icon name="more" />
            </Menu>
          </div>
          <Head person={person} name={name} heading={heading} onPhoto={savePhoto} />
        </header>
      )}
    >
      {!isWhole && (
        <ReachBar
          person={person}
          name={name}
          onLog={log}
          onMissing={(list) => edit("contact", `[data-list="${list}"] :is(.entry input, .chip)`)}
        />
      )}
      <div class={isWhole ? "person-body whole" : "person-body"}>
        {isWhole ? (
          dates && (
            <SectionForm
              person={person}
              name={name}
              section={WHOLE}
              birthday={birthday}
              onPhoto={savePhoto}
              onDone={() => end(WHOLE)}
            />
          )
        ) : (
          <>
            <div class="person-top">
              {SECTION_NAMES.filter((section) => open.has(section)).map((section) => (
                <SectionForm key={section} person={person} name={name} section={section} focus={focus} onDone={() => end(section)} />
              ))}
              <Glance person={person} onReminder={() => edit("reminder")} />
            </div>
            {hasContact && !open.has("contact") && (
              <section class="section reach-section" aria-label={t("Reach")}>
                <SectionHead title={t("Reach")} letter={SECTIONS.contact.letter}>
                  <EditButton section={t("Reach")} name={name} onEdit={() => edit("contact")} />
                </SectionHead>
                <ContactSection person={person} name={name} />
              </section>
            )}
            <Timeline person={person} name={name} />
            <div class="person-side">
              <RelationshipsSection person={person} name={name} isAdding={dialog === "relationship"} onAdding={(isAdding) => setDialog(isAdding ? "relationship" : null)} />
              <DatesSection person={person} name={name} isAdding={dialog === "date"} onAdding={(isAdding) => setDialog(isAdding ? "date" : null)} />
              {person.notes && !open.has("notes") && (
                <section class="section" id="person-notes" aria-label={t("Notes")}>
                  <SectionHead title={t("Notes")} letter={SECTIONS.notes.letter}>
                    <Lock person={person} field="notes" />
                    <EditButton section={t("Notes")} name={name} onEdit={() => edit("notes")} />
                  </SectionHead>
                  <div class="card">
                    <Notes text={person.notes} />
                  </div>
                </section>
              )}
              {hasDetails(person) && !open.has("details") && (
                <section class="section" aria-label={t("About|a person")}>
                  <SectionHead title={t("About|a person")} letter={SECTIONS.details.letter}>
                    {person.customFields.length > 0 && <Lock person={person} field="customFields" />}
                    <EditButton section={t("About|a person")} name={name} onEdit={() => edit("details")} />
                  </SectionHead>
                  <AboutSection person={person} />
                </section>
              )}
              {person.contactReminderEnabled && !open.has("reminder") && (
                <section class="section" aria-label={t("Getting in touch")}>
                  <SectionHead title={t("Getting in touch")} letter={SECTIONS.reminder.letter}>
                    <Lock person={person} field="always" />
                    <EditButton section={t("Getting in touch")} name={name} onEdit={() => edit("reminder")} />
                  </SectionHead>
                  <p class="card">
                    {t("{interval}, unless you were in touch", { interval: intervalLabel(person.contactReminderInterval ?? 1, person.contactReminderIntervalUnit ?? "MONTHS") })}
                  </p>
                </section>
              )}
              {chips.length > 0 && (
                <section class="section no-print" aria-label={t("Add to {name}", { name })}>
                  <h2>{t("Add")}</h2>
                  <div class="row">
                    {chips.map(([key, label, , add]) => (
                      <button key={key} class="chip add" onClick={add}>
                        <Icon name="add" size={16} />
                        {label}
                      </button>
                    ))}
                  </div>
                </section>
              )}
            </div>
          </>
        )}
      </div>
      {dialog === "share" && <ShareDialog person={person} name={name} onClose={() => setDialog(null)} />}
    </Page>
  );
}

// `e` shows the letters of the sections and waits for one; `e` again edits all of them.
function useSectionKeys(edit: (section: Open) => void, openDialog: (dialog: "date" | "relationship") => void, dependencies: unknown[]): void {
  const isAsking = areLettersShown.value;
  const answer = (act: () => void) => () => {
    areLettersShown.value = false;
    act();
  };
  useKeys([{ key: "e", label: t("Edit, then the letter of a section; e again for everything"), act: () => (areLettersShown.value = true) }], dependencies);
  useKeys(
    isAsking
      ? [
          { key: "e", label: t("Edit everything"), act: answer(() => edit(WHOLE)) },
          ...SECTION_NAMES.map((section) => ({ key: SECTIONS[section].letter, label: t("Edit: {section}", { section: SECTIONS[section].title() }), act: answer(() => edit(section)) })),
          { key: "d", label: t("New date"), act: answer(() => openDialog("date")) },
          { key: "p", label: t("New relationship"), act: answer(() => openDialog("relationship")) },
          { key: "Escape", label: t("Cancel"), act: answer(() => undefined) },
        ]
      : [],
    [isAsking, ...dependencies],
  );
  useEffect(() => {
    if (!isAsking) return;
    const timer = setTimeout(() => (areLettersShown.value = false), LETTERS_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [isAsking]);
  useEffect(() => () => void (areLettersShown.value = false), []);
}

// The picture itself, so that a change of it can be undone; null where it cannot be read, as without a network.
async function readPhoto(url: string | null): Promise<Blob | null> {
  if (!url) return null;
  try {
    const response = await fetch(url);
    return response.ok ? await response.blob() : null;
  } catch {
    return null;
  }
}
