// Adds a person: the name and what is at hand. The rest is added on their page.
import { navigate, place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { AreaField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { Page } from "../../ui/Page.tsx";
import { toast } from "../../ui/toast.tsx";
import { GroupsForm } from "./GroupsSection.tsx";

interface Values {
  name: string;
  surname: string;
  phone: string;
  email: string;
  birthday: string;
  notes: string;
  groupIds: string[];
}

export default function NewPersonPage() {
  const { copy, id: accountId, groups } = useAccount();
  const [given, ...rest] = (place.value.query.get("name") ?? "").trim().split(/\s+/);
  const group = place.value.query.get("group");
  const form = useForm<Values>(`${accountId} new person`, () => ({
    name: given ?? "",
    surname: rest.join(" "),
    phone: "",
    email: "",
    birthday: "",
    notes: "",
    groupIds: group ? [group] : [],
  }));
  const values = form.values.value;
  const field = (name: keyof Omit<Values, "groupIds">) => ({ value: values[name], onValue: (value: string) => form.set(name, value) });
  const save = async (event: Event) => {
    event.preventDefault();
    const name = values.name.trim();
    if (!name) return;
    const id = await copy.create("person", {
      name,
      ...(values.surname.trim() ? { surname: values.surname.trim() } : {}),
      ...(values.phone.trim() ? { phoneNumbers: [{ type: "mobile", number: values.phone.trim() }] } : {}),
      ...(values.email.trim() ? { emails: [{ type: "home", email: values.email.trim() }] } : {}),
      ...(values.notes.trim() ? { notes: values.notes.trim() } : {}),
      ...(values.groupIds.length ? { groupIds: values.groupIds } : {}),
    });
    if (values.birthday) await copy.create("importantDate", { personId: id, type: "BIRTHDAY", date: values.birthday, reminderEnabled: true });
    form.end();
    toast(t("{name} is saved.", { name }));
    navigate(`/people/${id}`, { replace: true });
  };
  return (
    <Page title={t("New person")} back="/people">
      <form class="stack" onSubmit={save}>
        <TextField label={t("Given name")} name="name" required maxLength={100} autoFocus autocomplete="off" autocapitalize="words" {...field("name")} />
        <TextField label={t("Surname")} name="surname" maxLength={100} autocomplete="off" autocapitalize="words" {...field("surname")} />
        <TextField label={t("Phone number")} name="phone" type="tel" inputMode="tel" autocomplete="off" {...field("phone")} />
        <TextField label={t("E-mail")} name="email" type="email" inputMode="email" autocomplete="off" {...field("email")} />
        <TextField label={t("Birthday")} name="birthday" type="date" {...field("birthday")} />
        {groups.all.length > 0 && (
          <details>
            <summary>{t("Groups")}</summary>
            <GroupsForm groupIds={values.groupIds} onGroups={(ids) => form.set("groupIds", ids)} />
          </details>
        )}
        <AreaField label={t("Notes")} maxLength={10_000} {...field("notes")} />
        <div class="form-actions">
          <button
            type="button"
            onClick={() => {
              form.end();
              navigate("/people", { replace: true });
            }}
          >
            {t("Cancel")}
          </button>
          <button class="main">{t("Save")}</button>
        </div>
      </form>
    </Page>
  );
}
