import { t } from "../i18n/index.ts";
import { Dialog } from "./Dialog.tsx";
import { isHelpOpen, keyActions } from "./keyboard.ts";

export default function KeyHelp() {
  const seen = new Set<string>();
  const actions = keyActions.value.filter(({ key }) => !seen.has(key) && seen.add(key));
  return (
    <Dialog title={t("Keys")} onClose={() => (isHelpOpen.value = false)}>
      <dl class="stack tight">
        {actions.map(({ key, label }) => (
          <div class="row" key={key}>
            <dt><kbd>{key}</kbd></dt>
            <dd>{label}</dd>
          </div>
        ))}
        <div class="row">
          <dt><kbd>Ctrl Z</kbd></dt>
          <dd>{t("Undo")}</dd>
        </div>
      </dl>
    </Dialog>
  );
}
