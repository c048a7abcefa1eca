// "+" on every page: what can be added, at most two taps away.
import { isAddOpen } from "../../app/box.ts";
import { t } from "../../i18n/index.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { navigate } from "../../app/router.ts";

const CHOICES: { label: string; hint: string; icon: IconName; path: string }[] = [
  { label: "A person", hint: "Somebody you know", icon: "people", path: "/people/new" },
  { label: "A contact", hint: "A call, a meeting, a message, with one or several", icon: "log", path: "/log" },
  { label: "A date", hint: "A birthday, an anniversary, with a reminder", icon: "calendar", path: "/dates/new" },
];

export function AddMenu() {
  if (!isAddOpen.value) return null;
  const close = () => (isAddOpen.value = false);
  return (
    <Dialog title={t("Add")} onClose={close}>
      <ul class="stack tight">
        {CHOICES.map(({ label, hint, icon, path }) => (
          <li key={path}>
            <button
              class="choice"
              onClick={() => {
                close();
                navigate(path);
              }}
            >
              <Icon name={icon} />
              <span>
                <strong>{t(label)}</strong>
                <span class="soft small"> {t(hint)}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
