// The land of the earth, from Natural Earth (in the public domain), so that it can be drawn on a flat map that goes round.
import type { MultiPolygon, Position } from "geojson";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import land from "world-atlas/land-110m.json";

const topology = land as unknown as Topology<{ land: GeometryCollection }>;
const ROUND = 360;

// A ring over the 180th meridian goes on behind it, instead of back across the whole map.
function unrolled(ring: Position[]): Position[] {
  let turn = 0;
  const found = ring.map(([longitude, latitude], index): Position => {
    const step = index === 0 ? 0 : longitude! - ring[index - 1]![0]!;
    if (Math.abs(step) > ROUND / 2) turn -= Math.sign(step) * ROUND;
    return [longitude! + turn, latitude!];
  });
  // Antarctica goes round the pole: it is closed below the map.
  return turn === 0 ? found : [...found, [found.at(-1)![0]!, -90], [found[0]![0]!, -90]];
}

function shifted(polygons: Position[][][], by: number): Position[][][] {
  return polygons.map((rings) => rings.map((ring) => ring.map(([longitude, latitude]): Position => [longitude! + by, latitude!])));
}

function landOnce(): Position[][][] {
  return feature(topology, topology.objects.land).features.flatMap(({ geometry }) => {
    if (geometry.type === "MultiPolygon") return geometry.coordinates.map((rings) => rings.map(unrolled));
    return geometry.type === "Polygon" ? [geometry.coordinates.map(unrolled)] : [];
  });
}

const once = landOnce();

export const LAND: MultiPolygon = { type: "MultiPolygon", coordinates: [-ROUND, 0, ROUND].flatMap((by) => shifted(once, by)) };
