// An address of mail or of the web breaks behind its signs, not in the middle of a word.
import type { ComponentChildren } from "preact";

export function breakable(text: string): ComponentChildren {
  return text.split(/(?<=[@./_-])(?=[^@./_-])/).map((part, index) => (index === 0 ? part : [<wbr key={index} />, part]));
}
