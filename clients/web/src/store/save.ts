// Saving what a form has changed of a record.
import type { Copy, EditableType, NewRecords, Records } from "contacts-client";
import type { FormEdit } from "../ui/form.ts";

// Saves an edit of the record that was opened. One that was deleted elsewhere meanwhile comes back, as its user wants it.
export async function saveEdit<T extends EditableType>(copy: Copy, type: T, opened: Records[T], { changes, seen }: FormEdit<object>): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  if (!(await copy.get(type, opened.id))) await copy.restore(type, opened.id, opened);
  await copy.update(type, opened.id, changes as Partial<NewRecords[T]>, seen);
}
