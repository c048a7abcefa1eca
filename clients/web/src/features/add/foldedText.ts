// A text without accents and capitals, of which each place is known in the text as it was typed.
import { fold } from "../../store/fold.ts";

export interface FoldedText {
  folded: string;
  at: readonly number[]; // of each place of the folded text, and of its end, the place in the typed one
}

export function foldedText(text: string): FoldedText {
  let folded = "";
  const at: number[] = [];
  for (const { 0: sign, index } of text.matchAll(/[\s\S]\p{M}*/gu)) {
    const part = /^\s/.test(sign) ? " " : fold(sign);
    if (part === " " && folded.endsWith(" ")) continue;
    folded += part;
    for (let count = part.length; count > 0; count--) at.push(index);
  }
  at.push(text.length);
  return { folded, at };
}
