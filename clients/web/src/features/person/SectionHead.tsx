// The head of a section: its title, and what can be done with it. While the letters of the sections are asked for, it shows
// its own.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { t } from "../../i18n/index.ts";
import { Icon } from "../../ui/Icon.tsx";

export const areLettersShown = signal(false);

export function SectionHead({ title, letter, children }: { title: string; letter: string; children: ComponentChildren }) {
  return (
    <header>
      <h2>{title}</h2>
      {areLettersShown.value && <kbd>{letter}</kbd>}
      {children}
    </header>
  );
}

export function EditButton({ section, name, onEdit }: { section: string; name: string; onEdit: () => void }) {
  return (
    <button class="plain icon no-print" onClick={onEdit} aria-label={t("Edit {section} of {name}", { section, name })}>
      <Icon name="edit" size={18} />
    </button>
  );
}
