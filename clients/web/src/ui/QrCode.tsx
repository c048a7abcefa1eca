// A QR code as one SVG path: black on white in both schemes, as readers expect it.
import qrcode from "qrcode-generator";

export default function QrCode({ text, label }: { text: string; label: string }) {
  // Bytes in UTF-8: the library takes one byte per character.
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  const code = qrcode(0, text.length > 800 ? "L" : "M");
  code.addData(bytes, "Byte");
  code.make();
  const count = code.getModuleCount();
  let path = "";
  for (let y = 0; y < count; y++) for (let x = 0; x < count; x++) if (code.isDark(y, x)) path += `M${x + 4} ${y + 4}h1v1h-1z`;
  return (
    <svg class="qr" viewBox={`0 0 ${count + 8} ${count + 8}`} role="img" aria-label={label}>
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  );
}
