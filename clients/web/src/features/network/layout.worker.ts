// Arranges a graph by forces, in a thread of its own, so that the page never waits for it.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from "d3-force";

export interface LayoutTask {
  positions: Float32Array; // x and y of each node; NaN where it has none yet
  links: Uint32Array; // pairs of nodes
  radii: Float32Array;
  isStill: boolean; // only the end is shown
}

export interface LayoutStep {
  positions: Float32Array;
  isDone: boolean;
}

const MAX_TICKS = 300;
const MAX_MILLISECONDS = 20_000;
const MILLISECONDS_BETWEEN_STEPS = 40;

const scope = globalThis as unknown as { onmessage: (event: MessageEvent<LayoutTask>) => void; postMessage: (step: LayoutStep, transferred: Transferable[]) => void };

scope.onmessage = ({ data: { positions, links, radii, isStill } }) => {
  const nodes: SimulationNodeDatum[] = Array.from(radii, (_, index) => {
    const [x, y] = [positions[2 * index]!, positions[2 * index + 1]!];
    return Number.isNaN(x) ? {} : { x, y };
  });
  const pairs = Array.from({ length: links.length / 2 }, (_, index) => ({ source: links[2 * index]!, target: links[2 * index + 1]! }));
  const hasMoved = positions.some(Number.isNaN);
  const simulation = forceSimulation(nodes)
    .force("links", forceLink(pairs).distance(36))
    .force("charge", forceManyBody().strength(-60).theta(1).distanceMax(600))
    .force("collide", forceCollide<SimulationNodeDatum>((node) => radii[node.index!]! + 3))
    .force("x", forceX(0).strength(0.06))
    .force("y", forceY(0).strength(0.06))
    .alpha(hasMoved ? 1 : 0.3)
    .stop();
  const start = performance.now();
  let shown = start;
  for (let tick = 1; ; tick++) {
    simulation.tick();
    const now = performance.now();
    const isDone = tick >= MAX_TICKS || simulation.alpha() < simulation.alphaMin() || now - start > MAX_MILLISECONDS;
    if (isDone || (!isStill && now - shown >= MILLISECONDS_BETWEEN_STEPS)) {
      shown = now;
      const step = new Float32Array(nodes.length * 2);
      for (const [index, { x, y }] of nodes.entries()) step.set([x!, y!], 2 * index);
      scope.postMessage({ positions: step, isDone }, [step.buffer]);
    }
    if (isDone) return;
  }
};
