// Gives the user a file, as if it were downloaded. Of the name only what file systems take is kept.
export function saveFile(content: Blob, name: string, extension: string): void {
  const url = URL.createObjectURL(content);
  const download = `${name.replace(/[^\p{L}\p{N} ._-]/gu, "")}.${extension}`;
  Object.assign(document.createElement("a"), { href: url, download }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // a browser may ask first, and reads it after the answer
}
