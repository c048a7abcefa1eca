// Groups in the picture: those of one who are tied to each other have a soft hull around them, with its name.
import { type Graph, type Node, otherEnd } from "./graph.ts";

const MIN_PEOPLE = 3;
const MAX_PEOPLE = 150; // a hull around everybody says nothing

export interface Cluster {
  name: string;
  hue: string;
  indexes: number[]; // of the nodes
}

export type Point = readonly [x: number, y: number];

export function clustersOf({ nodes }: Graph, index: ReadonlyMap<Node, number>): Cluster[] {
  const known = new Set<Node>();
  const clusters: Cluster[] = [];
  for (const start of nodes) {
    if (!start.group || known.has(start)) continue;
    const found = new Set([start]);
    // A set goes on with what is added to it.
    for (const node of found) {
      for (const tie of node.ties) {
        const other = otherEnd(tie, node);
        if (other.group?.id === start.group.id) found.add(other);
      }
    }
    for (const node of found) known.add(node);
    if (found.size >= MIN_PEOPLE && found.size <= MAX_PEOPLE) clusters.push({ name: start.group.name, hue: start.ring, indexes: [...found].map((node) => index.get(node)!) });
  }
  return clusters;
}

// The corners of the smallest convex shape around the points, in order.
export function hullOf(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const half = (all: readonly Point[]) => {
    const line: Point[] = [];
    for (const point of all) {
      while (line.length > 1 && turn(line.at(-2)!, line.at(-1)!, point) <= 0) line.pop();
      line.push(point);
    }
    return line.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function turn(from: Point, by: Point, to: Point): number {
  return (by[0] - from[0]) * (to[1] - from[1]) - (by[1] - from[1]) * (to[0] - from[0]);
}
