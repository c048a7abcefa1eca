// What the list of people shows, for the page of a person: who comes before and after.
import { signal } from "@preact/signals";
import { place } from "../../app/router.ts";
import { isDesk } from "../../ui/media.ts";

// In the order of the list, as it was shown last.
export const shownIds = signal<readonly string[]>([]);

// The address of a person with the filters of the list, which stays beside it.
export function personPath(id: string): string {
  const query = new URLSearchParams(place.value.query);
  for (const own of ["view", "edit", "search"]) query.delete(own);
  return `/people/${id}${isDesk.value && query.size ? `?${query}` : ""}`;
}
