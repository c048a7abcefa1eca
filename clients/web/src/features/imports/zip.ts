// Takes files of people out of an archive (ZIP), such as the export of an account at Google, LinkedIn or iCloud.

const NAMES = /(^|\/)(?!\.)[^/]+\.(vcf|vcard|csv|tsv|json|sql)$/i;
const MAX_BYTES = 20 * 1024 * 1024; // of all files together, unpacked
const MAX_FILES = 50;
const END_BYTES = 66_000; // the end of an archive, with its comment
const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;

interface ZipEntry {
  name: string;
  method: number; // 0: stored, 8: deflate
  packedSize: number;
  offset: number; // of its local header
}

// The files with the names of such a kind; none if the archive is damaged, encrypted, or holds too much.
export async function unpack(archive: Blob): Promise<File[]> {
  const entries = (await readDirectory(archive)).filter(({ name, method }) => NAMES.test(name) && !name.startsWith("__MACOSX/") && (method === 0 || method === 8));
  const files: File[] = [];
  let left = MAX_BYTES;
  for (const entry of entries.slice(0, MAX_FILES)) {
    const content = await readEntry(archive, entry, left).catch(() => null);
    if (!content) continue;
    left -= content.size;
    files.push(new File([content], entry.name.split("/").at(-1)!));
  }
  return files;
}

async function readDirectory(archive: Blob): Promise<ZipEntry[]> {
  const start = Math.max(0, archive.size - END_BYTES);
  const end = new DataView(await archive.slice(start).arrayBuffer());
  let at = end.byteLength - 22;
  while (at >= 0 && end.getUint32(at, true) !== END_SIGNATURE) at--;
  if (at < 0) return [];
  const size = end.getUint32(at + 12, true);
  const offset = end.getUint32(at + 16, true);
  if (size > MAX_BYTES) return [];
  const directory = new DataView(await archive.slice(offset, offset + size).arrayBuffer());
  const entries: ZipEntry[] = [];
  for (let here = 0; here + 46 <= directory.byteLength && directory.getUint32(here, true) === ENTRY_SIGNATURE; ) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => directory.getUint16(here + field, true)) as [number, number, number];
    const name = new TextDecoder().decode(new Uint8Array(directory.buffer, here + 46, Math.min(nameLength, directory.byteLength - here - 46)));
    const isEncrypted = directory.getUint16(here + 8, true) & 1;
    const method = directory.getUint16(here + 10, true);
    if (!isEncrypted) entries.push({ name, method, packedSize: directory.getUint32(here + 20, true), offset: directory.getUint32(here + 42, true) });
    here += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}

// Null if it is larger than `most`: what the archive says of sizes is not relied on.
async function readEntry(archive: Blob, entry: ZipEntry, most: number): Promise<Blob | null> {
  const header = new DataView(await archive.slice(entry.offset, entry.offset + 30).arrayBuffer());
  const begin = entry.offset + 30 + header.getUint16(26, true) + header.getUint16(28, true);
  const packed = archive.slice(begin, begin + entry.packedSize);
  if (entry.method === 0) return packed.size <= most ? packed : null;
  const reader = packed.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts: BlobPart[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    size += value.length;
    if (size > most) {
      await reader.cancel();
      return null;
    }
    parts.push(value as BlobPart);
  }
}
