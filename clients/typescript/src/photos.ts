// Photos in edits: as text, since the rows of a store are JSON. Until an edit is sent, `photo` of its person is such a text,
// which an <img> shows as it is.

export async function toDataUrl(picture: Blob): Promise<string> {
  const bytes = new Uint8Array(await picture.arrayBuffer());
  let text = "";
  // In parts, since the number of arguments of a call is limited.
  for (let start = 0; start < bytes.length; start += 0x8000) text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return `data:${picture.type};base64,${btoa(text)}`;
}

export function isDataUrl(photo: unknown): photo is string {
  return typeof photo === "string" && photo.startsWith("data:");
}

export function fromDataUrl(url: string): Blob {
  const [, type = "", base64 = ""] = /^data:([^;,]*);base64,(.*)$/.exec(url) ?? [];
  return new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type });
}
