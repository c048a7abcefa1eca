// Arranges a graph in a thread of its own, so that the page never waits for it.
import { arrangement, type LayoutTask } from "./arrangement.ts";

export interface LayoutStep {
  positions: Float32Array;
  isDone: boolean;
}

const MILLISECONDS_BETWEEN_STEPS = 40;

const scope = globalThis as unknown as { onmessage: (event: MessageEvent<LayoutTask>) => void; postMessage: (step: LayoutStep, transferred: Transferable[]) => void };

scope.onmessage = ({ data }) => {
  const steps = arrangement(data);
  let shown = performance.now();
  for (;;) {
    const step = steps.next();
    const now = performance.now();
    if (!step.done && (data.isStill || now - shown < MILLISECONDS_BETWEEN_STEPS)) continue;
    shown = now;
    const positions = step.done ? step.value : step.value();
    scope.postMessage({ positions, isDone: step.done === true }, [positions.buffer]);
    if (step.done) return;
  }
};
