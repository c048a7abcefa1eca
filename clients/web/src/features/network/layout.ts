// The arrangement of a graph: made by a worker, and kept while the client is open, so that a filter moves nobody far.
import type { Graph } from "./graph.ts";
import type { LayoutTask } from "./arrangement.ts";
import type { LayoutStep } from "./layout.worker.ts";
import { isStill, radiusOf } from "./picture.ts";

const known = new Map<string, readonly [x: number, y: number]>();

// Where the nodes are to begin with; NaN for those who were not arranged yet.
export function knownPositions({ nodes }: Graph): Float32Array {
  return Float32Array.from(nodes.flatMap(({ id }) => known.get(id) ?? [NaN, NaN]));
}

// The same for graphs that are arranged alike.
export function shapeOf({ nodes, ties }: Graph): string {
  return `${nodes.map(({ id }) => id).join()} ${ties.map(({ from, to }) => `${from.id}-${to.id}`).join()}`;
}

// Calls `onStep` with the positions as they become better. Returns what ends it.
export function arrange(graph: Graph, onStep: (step: LayoutStep) => void): () => void {
  const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  const index = new Map(graph.nodes.map((node, at) => [node, at]));
  const task: LayoutTask = {
    positions: knownPositions(graph),
    links: Uint32Array.from(graph.ties.flatMap(({ from, to }) => [index.get(from)!, index.get(to)!])),
    radii: Float32Array.from(graph.nodes, radiusOf),
    isStill: isStill(),
  };
  let last: Float32Array | undefined;
  const end = () => {
    worker.terminate();
    if (last) for (const [at, { id }] of graph.nodes.entries()) known.set(id, [last[2 * at]!, last[2 * at + 1]!]);
    last = undefined;
  };
  worker.onmessage = ({ data }: MessageEvent<LayoutStep>) => {
    last = data.positions;
    if (data.isDone) end();
    onStep(data);
  };
  worker.postMessage(task);
  return end;
}
