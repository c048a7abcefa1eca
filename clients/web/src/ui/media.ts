// The widths at which the layout changes, as signals. In rem, so that they follow the text size of the user.
import { signal } from "@preact/signals";

function follows(query: string) {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener("change", () => (matches.value = media.matches));
  return matches;
}

export const isDesk = follows("(min-width: 70rem)"); // a list and its page stand side by side
export const isWide = follows("(min-width: 100rem)"); // a third pane beside them
export const isPhone = follows("(max-width: 39.99rem)");
