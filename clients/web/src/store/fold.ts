// Text without accents, case and repeated blanks, for searching and sorting; Katakana as Hiragana, all apostrophes as one. As the
// service folds what is searched (kernel/text_forms.py).

const MARKS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u0591-\u05c7\u064b-\u0655]+/g;
const LETTERS: Record<string, string> = {
  ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ı: "i", ħ: "h", ŋ: "n", ŧ: "t", ß: "ss",
};
const KATAKANA_TO_HIRAGANA = 0x60;
const ASCII = /^[\x20-\x7e]*$/;

export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase().replace(/ +/g, " ").trim();
  const plain = text.toLowerCase().normalize("NFKD").replace(MARKS, "").normalize("NFKC");
  return plain
    .replace(/[øłđðþæœıħŋŧß]/g, (letter) => LETTERS[letter]!)
    .replace(/[\u30a1-\u30f6]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) - KATAKANA_TO_HIRAGANA))
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/\s+/g, " ")
    .trim();
}
