// The twelve hues of people and groups, as classes of styles/tokens.css that set --hue, --hue-ink and --hue-dot.

const HUES = 12;
// The angle of each hue's dot on the colour wheel.
const ANGLES = [357, 20, 34, 56, 111, 160, 180, 193, 213, 244, 282, 324];
const BLUE = 8;

// By a hash of the id, so that it survives marriage and merging.
export function hueOf(id: string): string {
  let hash = 0;
  for (let index = 0; index < id.length; index++) hash = (hash * 31 + id.charCodeAt(index)) | 0;
  return `hue-${Math.abs(hash) % HUES}`;
}

// The hue nearest to a colour, `#rrggbb`; blue for greys and what is no colour.
export function nearestHue(colour: string | null | undefined): string {
  const match = /^#?([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(colour ?? "");
  if (!match) return `hue-${BLUE}`;
  const [red, green, blue] = match.slice(1).map((part) => parseInt(part, 16)) as [number, number, number];
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  const range = most - least;
  if (range < 16) return `hue-${BLUE}`;
  const sector = most === red ? (green - blue) / range : most === green ? 2 + (blue - red) / range : 4 + (red - green) / range;
  const angle = (sector * 60 + 360) % 360;
  const distances = ANGLES.map((each) => Math.min(Math.abs(each - angle), 360 - Math.abs(each - angle)));
  return `hue-${distances.indexOf(Math.min(...distances))}`;
}
