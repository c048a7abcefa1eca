// Where the nodes of a graph stand: linked ones near each other, none upon another. In levels (Walshaw 2003): neighbours are
// joined until few are left, these are arranged, and each level is the start of the finer one. So the shape is found among
// few, and of many each only makes way for those around: the time grows with the nodes, not with their square.

export interface LayoutTask {
  positions: Float32Array; // x and y of each node; NaN where it has none yet
  links: Uint32Array; // pairs of nodes
  radii: Float32Array;
  isStill: boolean; // only the end is shown
}

const SPACING = 78; // between two who are linked
const MIN_LEVEL = 30; // nodes of the coarsest level
const MIN_REDUCTION = 0.9; // a level that is hardly smaller than the one before helps nothing
const MAX_JOINED = 6; // neighbours of somebody with many, in one node of the next level
const COARSE_TICKS = 60;
const FINE_TICKS = 45;
const NEAR = 2.6; // times the spacing: how far nodes push each other away
const MAX_COMPARED = 24; // nodes of a cell that are looked at; they stand for the others in it
const PUSH = 0.22;
const GRAVITY = 0.012;
const DRAG = 0.6;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

interface Level {
  count: number;
  links: Uint32Array;
  parent: Uint32Array | null; // of each node: its node in the next level
}

type Positions = Float32Array<ArrayBuffer>; // which can be handed over

// Yields the positions as they become better, to be asked for; returns the end.
export function* arrangement({ positions, links, radii }: LayoutTask): Generator<() => Positions, Positions> {
  const count = radii.length;
  const tied = linkedNodes(count, links);
  const numbers = new Int32Array(count).fill(-1);
  for (const [at, node] of tied.entries()) numbers[node] = at;
  const levels = levelsOf(tied.length, links.map((node) => numbers[node]!));
  const isKnown = tied.length > 0 && tied.every((node) => !Number.isNaN(positions[2 * node]!));
  let x: Float32Array = new Float32Array(tied.length);
  let y: Float32Array = new Float32Array(tied.length);
  const result = () => placed(positions, tied, x, y, radii);
  if (isKnown) {
    for (const [at, node] of tied.entries()) [x[at], y[at]] = [positions[2 * node]!, positions[2 * node + 1]!];
    for (const _ of relax(levels[0]!, x, y, SPACING, FINE_TICKS, 0.3)) yield result;
  } else {
    for (let depth = levels.length - 1; depth >= 0; depth--) {
      const level = levels[depth]!;
      const spacing = SPACING * Math.sqrt(tied.length / Math.max(1, level.count));
      [x, y] = depth === levels.length - 1 ? spiral(level.count, spacing) : finer(level, x, y, spacing);
      const isCoarsest = depth === levels.length - 1;
      for (const _ of relax(level, x, y, spacing, isCoarsest ? COARSE_TICKS * 3 : depth ? COARSE_TICKS : FINE_TICKS, isCoarsest ? 1 : 0.5)) if (depth === 0) yield result;
    }
  }
  separate(x, y, tied.map((node) => radii[node]!));
  return result();
}

function linkedNodes(count: number, links: Uint32Array): Uint32Array {
  const isLinked = new Uint8Array(count);
  for (const node of links) isLinked[node] = 1;
  return Uint32Array.from([...isLinked.keys()].filter((node) => isLinked[node]));
}

function levelsOf(count: number, links: Uint32Array): Level[] {
  const levels: Level[] = [{ count, links, parent: null }];
  for (;;) {
    const fine = levels.at(-1)!;
    if (fine.count <= MIN_LEVEL) return levels;
    const coarse = joined(fine);
    if (coarse.count > fine.count * MIN_REDUCTION) {
      fine.parent = null;
      return levels;
    }
    levels.push(coarse);
  }
}

// The next level: each node together with a neighbour, those with few neighbours first.
function joined(fine: Level): Level {
  const { count, links } = fine;
  const [start, neighbours] = neighboursOf(count, links);
  const degree = (node: number) => start[node + 1]! - start[node]!;
  const order = Uint32Array.from({ length: count }, (_, node) => node).sort((one, other) => degree(one) - degree(other));
  const parent = new Int32Array(count).fill(-1);
  const sizes: number[] = [];
  for (const node of order) {
    if (parent[node]! >= 0) continue;
    let [free, least] = [-1, -1];
    for (let at = start[node]!; at < start[node + 1]!; at++) {
      const other = neighbours[at]!;
      if (other === node) continue;
      const into = parent[other]!;
      if (into < 0) {
        free = other;
        break;
      }
      if (sizes[into]! < MAX_JOINED && (least < 0 || sizes[into]! < sizes[least]!)) least = into;
    }
    if (free < 0 && least >= 0) {
      parent[node] = least;
      sizes[least]!++;
      continue;
    }
    parent[node] = sizes.length;
    if (free >= 0) parent[free] = sizes.length;
    sizes.push(free >= 0 ? 2 : 1);
  }
  fine.parent = Uint32Array.from(parent);
  const keys = new Set<number>();
  for (let at = 0; at < links.length; at += 2) {
    const [one, other] = [parent[links[at]!]!, parent[links[at + 1]!]!];
    if (one !== other) keys.add(Math.min(one, other) * sizes.length + Math.max(one, other));
  }
  const coarseLinks = new Uint32Array(keys.size * 2);
  let at = 0;
  for (const key of keys) {
    coarseLinks[at++] = Math.floor(key / sizes.length);
    coarseLinks[at++] = key % sizes.length;
  }
  return { count: sizes.length, links: coarseLinks, parent: null };
}

// The neighbours of all nodes one after the other, and where those of each begin.
function neighboursOf(count: number, links: Uint32Array): [start: Uint32Array, neighbours: Uint32Array] {
  const start = new Uint32Array(count + 1);
  for (const node of links) start[node + 1]!++;
  for (let node = 0; node < count; node++) start[node + 1]! += start[node]!;
  const next = start.slice();
  const neighbours = new Uint32Array(links.length);
  for (let at = 0; at < links.length; at += 2) {
    const [one, other] = [links[at]!, links[at + 1]!];
    neighbours[next[one]!++] = other;
    neighbours[next[other]!++] = one;
  }
  return [start, neighbours];
}

function spiral(count: number, spacing: number): [x: Float32Array, y: Float32Array] {
  const distance = (at: number) => spacing * 0.6 * Math.sqrt(at + 0.5);
  const x = Float32Array.from({ length: count }, (_, at) => distance(at) * Math.cos(at * GOLDEN_ANGLE));
  return [x, Float32Array.from({ length: count }, (_, at) => distance(at) * Math.sin(at * GOLDEN_ANGLE))];
}

// Each node where its node of the coarser level is, those of one around it.
function finer(level: Level, coarseX: Float32Array, coarseY: Float32Array, spacing: number): [x: Float32Array, y: Float32Array] {
  const [x, y] = [new Float32Array(level.count), new Float32Array(level.count)];
  for (let node = 0; node < level.count; node++) {
    const parent = level.parent![node]!;
    x[node] = coarseX[parent]! + spacing * 0.35 * Math.cos(node * GOLDEN_ANGLE);
    y[node] = coarseY[parent]! + spacing * 0.35 * Math.sin(node * GOLDEN_ANGLE);
  }
  return [x, y];
}

// Moves the nodes until they rest: links pull, those near push, all are drawn to the middle.
function* relax({ count, links }: Level, x: Float32Array, y: Float32Array, spacing: number, ticks: number, warmth: number): Generator<void> {
  const [speedX, speedY] = [new Float32Array(count), new Float32Array(count)];
  const degree = new Uint32Array(count);
  for (const node of links) degree[node]!++;
  const cooling = 0.02 ** (1 / ticks);
  const limit = spacing;
  for (let tick = 0, heat = warmth; tick < ticks; tick++, heat *= cooling) {
    for (let at = 0; at < links.length; at += 2) {
      const [one, other] = [links[at]!, links[at + 1]!];
      const dx = x[other]! + speedX[other]! - x[one]! - speedX[one]! || 1e-3;
      const dy = y[other]! + speedY[other]! - y[one]! - speedY[one]! || 1e-3;
      const distance = Math.sqrt(dx * dx + dy * dy);
      const [ofOne, ofOther] = [degree[one]!, degree[other]!];
      const pull = (((distance - spacing) / distance) * heat) / Math.min(ofOne, ofOther);
      const share = ofOne / (ofOne + ofOther); // who has many moves little
      speedX[other]! -= dx * pull * share;
      speedY[other]! -= dy * pull * share;
      speedX[one]! += dx * pull * (1 - share);
      speedY[one]! += dy * pull * (1 - share);
    }
    push(x, y, speedX, speedY, spacing, heat * PUSH * spacing * spacing, tick);
    for (let node = 0; node < count; node++) {
      const mx = (speedX[node] = (speedX[node]! - x[node]! * GRAVITY * heat) * DRAG);
      const my = (speedY[node] = (speedY[node]! - y[node]! * GRAVITY * heat) * DRAG);
      const length = Math.sqrt(mx * mx + my * my);
      const part = length > limit ? limit / length : 1;
      x[node]! += mx * part;
      y[node]! += my * part;
    }
    yield;
  }
}

// A grid over the nodes: those of a cell one after the other.
function gridOf(x: Float32Array, y: Float32Array, size: number): { columns: number; rows: number; start: Uint32Array; nodes: Uint32Array } {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let node = 0; node < x.length; node++) {
    if (x[node]! < left) left = x[node]!;
    if (x[node]! > right) right = x[node]!;
    if (y[node]! < top) top = y[node]!;
    if (y[node]! > bottom) bottom = y[node]!;
  }
  const MAX_SIDE = 1024;
  const cell = Math.max(size, (right - left) / MAX_SIDE, (bottom - top) / MAX_SIDE);
  const columns = Math.floor((right - left) / cell) + 1;
  const rows = Math.floor((bottom - top) / cell) + 1;
  const cells = new Uint32Array(x.length);
  const start = new Uint32Array(columns * rows + 1);
  for (let node = 0; node < x.length; node++) {
    const at = Math.floor((y[node]! - top) / cell) * columns + Math.floor((x[node]! - left) / cell);
    cells[node] = at;
    start[at + 1]!++;
  }
  for (let at = 0; at < columns * rows; at++) start[at + 1]! += start[at]!;
  const next = start.slice();
  const nodes = new Uint32Array(x.length);
  for (let node = 0; node < x.length; node++) nodes[next[cells[node]!]!++] = node;
  return { columns, rows, start, nodes };
}

// Each away from those around, the nearer the more.
function push(x: Float32Array, y: Float32Array, speedX: Float32Array, speedY: Float32Array, spacing: number, strength: number, tick: number): void {
  if (x.length === 0) return;
  const reach = NEAR * spacing;
  const farthest = reach * reach;
  const nearest = (spacing * 0.1) ** 2;
  const { columns, rows, start, nodes } = gridOf(x, y, reach);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const cell = row * columns + column;
      const [from, to] = [start[cell]!, start[cell + 1]!];
      if (from === to) continue;
      for (let otherRow = Math.max(0, row - 1); otherRow <= Math.min(rows - 1, row + 1); otherRow++) {
        for (let otherColumn = Math.max(0, column - 1); otherColumn <= Math.min(columns - 1, column + 1); otherColumn++) {
          const other = otherRow * columns + otherColumn;
          const [otherFrom, otherTo] = [start[other]!, start[other + 1]!];
          const step = Math.ceil((otherTo - otherFrom) / MAX_COMPARED);
          for (let at = from; at < to; at++) {
            const node = nodes[at]!;
            let [sumX, sumY] = [0, 0];
            for (let otherAt = otherFrom + (tick % Math.max(1, step)); otherAt < otherTo; otherAt += step) {
              const neighbour = nodes[otherAt]!;
              if (neighbour === node) continue;
              const dx = x[node]! - x[neighbour]! || (node - neighbour) * 1e-3;
              const dy = y[node]! - y[neighbour]! || 1e-3;
              const square = dx * dx + dy * dy;
              if (square > farthest) continue;
              const part = strength * step * (1 / Math.max(square, nearest) - 1 / farthest);
              sumX += dx * part;
              sumY += dy * part;
            }
            speedX[node]! += sumX;
            speedY[node]! += sumY;
          }
        }
      }
    }
  }
}

const SEPARATE_ROUNDS = 12;
const GAP = 10;

// Nobody covers another.
function separate(x: Float32Array, y: Float32Array, radii: ArrayLike<number>): void {
  if (x.length === 0) return;
  const largest = Math.max(...Array.from(new Set(Array.from(radii)), Number));
  for (let round = 0; round < SEPARATE_ROUNDS; round++) {
    const { columns, rows, start, nodes } = gridOf(x, y, 2 * largest + GAP);
    let isMoved = false;
    for (let cell = 0; cell < columns * rows; cell++) {
      const column = cell % columns;
      for (const other of [cell, cell + 1, cell + columns - 1, cell + columns, cell + columns + 1]) {
        if (other >= columns * rows || Math.abs((other % columns) - column) > 1) continue;
        for (let at = start[cell]!; at < start[cell + 1]!; at++) {
          for (let otherAt = other === cell ? at + 1 : start[other]!; otherAt < start[other + 1]!; otherAt++) {
            const [one, two] = [nodes[at]!, nodes[otherAt]!];
            const dx = x[two]! - x[one]! || 1e-2;
            const dy = y[two]! - y[one]! || 1e-2;
            const distance = Math.sqrt(dx * dx + dy * dy);
            const missing = radii[one]! + radii[two]! + GAP - distance;
            if (missing <= 0) continue;
            isMoved = true;
            const part = missing / distance / 2;
            x[one]! -= dx * part;
            y[one]! -= dy * part;
            x[two]! += dx * part;
            y[two]! += dy * part;
          }
        }
      }
    }
    if (!isMoved) return;
  }
}

// All positions: those without a link stand in quiet rows below the others.
function placed(positions: Float32Array, tied: Uint32Array, x: Float32Array, y: Float32Array, radii: Float32Array): Positions {
  const found = new Float32Array(positions.length);
  const isTied = new Uint8Array(radii.length);
  let [left, right, bottom] = [Infinity, -Infinity, -Infinity];
  for (const [at, node] of tied.entries()) {
    isTied[node] = 1;
    found[2 * node] = x[at]!;
    found[2 * node + 1] = y[at]!;
    if (x[at]! < left) left = x[at]!;
    if (x[at]! > right) right = x[at]!;
    if (y[at]! > bottom) bottom = y[at]!;
  }
  const alone = radii.length - tied.length;
  if (tied.length === 0) [left, right, bottom] = [0, SPACING * Math.sqrt(alone * 1.6), -SPACING];
  const columns = Math.max(1, Math.floor((right - left) / SPACING) + 1, Math.ceil(Math.sqrt(alone * 2)));
  const first = (left + right) / 2 - ((Math.min(columns, alone) - 1) * SPACING) / 2;
  let at = 0;
  for (let node = 0; node < radii.length; node++) {
    if (isTied[node]) continue;
    found[2 * node] = first + (at % columns) * SPACING;
    found[2 * node + 1] = bottom + SPACING * (1.5 + Math.floor(at / columns));
    at++;
  }
  return found;
}
