// Draws a network on a canvas, and moves it: by pointer, wheel and pinch here, by keys and buttons from the page.
import { effect } from "@preact/signals";
import { theme } from "../../app/theme.ts";
import { type Graph, type Node, otherEnd, type Tie, USER } from "./graph.ts";
import { FaceCache } from "./faces.ts";
import { type Cluster, clustersOf, hullOf, type Point } from "./hulls.ts";
import { fitted, TakenSpace } from "./labels.ts";

const MIN_SCALE = 0.02;
const MAX_SCALE = 8;
const MAX_WHOLE_SCALE = 1.3; // a few people do not fill the picture
const MAX_LABELS = 200;
const MAX_LABELS_MOVING = 40; // text is the slowest to draw, and nobody reads it then
const MAX_MOVING_TIES = 1500; // drawn while the picture moves
const REST_MILLISECONDS = 150;
const LABEL_HEIGHT = 16;
const MAX_LABEL = 116; // pixels: a longer name is cut
const MAX_FACES = 150; // in sight; of more only dots are drawn
const FACE_RADIUS = 9; // pixels: of a smaller one nothing would be seen
const MOVE_MILLISECONDS = 250;
const TAP_PIXELS = 6;
const MIN_RADIUS = 1.5; // pixels
const HULL_MARGIN = 14; // pixels, around the faces
const SQUARE_RADIUS = 2.5; // below it a node is drawn as a square, which looks the same and takes a tenth of the time
const CLOSE_SCALE = 1.4; // at which somebody who was searched for is shown
export const READABLE_SCALE = 0.8; // at which names stand beside each other

export const isStill = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function radiusOf({ isUser, ties }: Node): number {
  return isUser ? 30 : Math.min(26, 19 + Math.sqrt(ties.length) * 1.5);
}

interface View {
  scale: number;
  x: number; // of the origin, in pixels
  y: number;
}

interface Colors {
  text: string;
  surface: string;
  line: string;
  accent: string;
  tie: string;
  hues: Map<string, Hue>;
}

// The colours of a hue in the scheme that is shown.
export interface Hue {
  surface: string;
  ink: string;
  dot: string;
  hull: string;
}

export class NetworkPicture {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #onSelect: (node: Node | null) => void;
  readonly #onTie: (from: Node, to: Node) => void;
  readonly #faces = new FaceCache(() => this.#redraw());
  readonly #endings: (() => void)[] = [];
  #graph: Graph = { nodes: [], ties: [] };
  #positions: Float32Array = new Float32Array();
  #index = new Map<Node, number>();
  #byTies: Node[] = []; // those with most ties first: their names are written first
  #pairs: Uint32Array = new Uint32Array(); // the ties, as indexes of nodes
  #nodesByRing = new Map<string, number[]>(); // by their index
  #clusters: Cluster[] = [];
  #way: readonly Node[] = [];
  #drawnFrom: Node | null = null; // a tie is drawn from there
  #drawnTo: [x: number, y: number] = [0, 0];
  #known: Colors | null = null;
  #radii: Float32Array = new Float32Array();
  #labels = new Map<string, readonly [text: string, width: number]>();
  #view: View = { scale: 1, x: 0, y: 0 };
  #isFollowing = true; // all is shown until the user moves the picture
  #selected: Node | null = null;
  #hovered: Node | null = null;
  #frame = 0;
  #movement = 0;
  #pointers = new Map<number, [number, number]>();
  #travelled = 0;
  #rest: ReturnType<typeof setTimeout> | undefined; // while something moves

  constructor(canvas: HTMLCanvasElement, onSelect: (node: Node | null) => void, onTie: (from: Node, to: Node) => void) {
    this.#canvas = canvas;
    this.#onTie = onTie;
    this.#context = canvas.getContext("2d")!;
    this.#onSelect = onSelect;
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(canvas);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => {
      this.#known = null;
      this.#faces.clear();
      this.#redraw();
    };
    scheme.addEventListener("change", redraw);
    const stopTheme = effect(() => {
      theme.value;
      redraw();
    });
    this.#endings.push(() => resized.disconnect(), () => scheme.removeEventListener("change", redraw), stopTheme);
    this.#listen();
  }

  close(): void {
    for (const end of this.#endings) end();
    cancelAnimationFrame(this.#frame);
    cancelAnimationFrame(this.#movement);
    clearTimeout(this.#rest);
  }

  show(graph: Graph, positions: Float32Array): void {
    this.#graph = graph;
    this.#positions = positions;
    this.#index = new Map(graph.nodes.map((node, index) => [node, index]));
    this.#byTies = [...graph.nodes].sort((one, other) => other.ties.length - one.ties.length);
    this.#selected = graph.nodes.find(({ id }) => id === this.#selected?.id) ?? null;
    this.#hovered = null;
    this.#pairs = this.#indexesOf(graph.ties);
    this.#nodesByRing = Map.groupBy(graph.nodes.keys(), (index) => graph.nodes[index]!.ring);
    this.#clusters = clustersOf(graph, this.#index);
    this.#radii = Float32Array.from(graph.nodes, radiusOf);
    this.#isFollowing = true;
    this.#followOrRedraw();
  }

  place(positions: Float32Array): void {
    this.#positions = positions;
    this.#noteMotion();
    this.#followOrRedraw();
  }

  // `way` leads from another one to it.
  select(node: Node | null, way: readonly Node[] = []): void {
    this.#selected = node;
    this.#way = way;
    this.#redraw();
  }

  #indexesOf(ties: readonly Tie[]): Uint32Array {
    return Uint32Array.from(ties.flatMap(({ from, to }) => [this.#index.get(from)!, this.#index.get(to)!]));
  }

  centreOn(node: Node, least = CLOSE_SCALE): void {
    const index = this.#index.get(node);
    if (index === undefined) return;
    const { width, height } = this.#size();
    const scale = Math.max(this.#view.scale, least);
    this.#moveTo({ scale, x: width / 2 - this.#positions[2 * index]! * scale, y: height / 2 - this.#positions[2 * index + 1]! * scale });
  }

  // Who is tied to the node and lies in this direction: the nearer and the straighter, the sooner.
  neighbourOf(node: Node, [x, y]: Point): Node | null {
    const [fromX, fromY] = this.#positionOf(node);
    let nearest: Node | null = null;
    let least = Infinity;
    for (const tie of node.ties) {
      const other = otherEnd(tie, node);
      const [toX, toY] = this.#positionOf(other);
      const along = (toX - fromX) * x + (toY - fromY) * y;
      const distance = Math.hypot(toX - fromX, toY - fromY);
      if (along < distance / 2) continue; // more than 60 degrees away
      const cost = (distance * distance) / along;
      if (cost < least) [nearest, least] = [other, cost];
    }
    return nearest;
  }

  // Who is nearest to the middle of the picture.
  middle(): Node | null {
    const { width, height } = this.#size();
    return this.#nodeAt(width / 2, height / 2, Infinity);
  }

  #positionOf(node: Node): Point {
    const index = this.#index.get(node)!;
    return [this.#positions[2 * index]!, this.#positions[2 * index + 1]!];
  }

  zoom(factor: number): void {
    const { width, height } = this.#size();
    this.#moveTo(this.#zoomed(factor, width / 2, height / 2));
  }

  pan(x: number, y: number): void {
    this.#moveTo({ ...this.#view, x: this.#view.x + x, y: this.#view.y + y });
  }

  showAll(): void {
    this.#moveTo(this.#whole());
    this.#isFollowing = true;
  }

  #size(): { width: number; height: number } {
    return { width: this.#canvas.clientWidth, height: this.#canvas.clientHeight };
  }

  #resize(): void {
    const { width, height } = this.#size();
    const ratio = devicePixelRatio || 1;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#followOrRedraw();
  }

  #followOrRedraw(): void {
    if (this.#isFollowing) this.#view = this.#whole();
    this.#redraw();
  }

  // The view in which every node is inside.
  #whole(): View {
    const { width, height } = this.#size();
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let index = 0; index < this.#positions.length; index += 2) {
      const [x, y] = [this.#positions[index]!, this.#positions[index + 1]!];
      if (Number.isNaN(x)) continue;
      [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
    }
    if (left > right || width === 0) return { scale: 1, x: width / 2, y: height / 2 };
    const margin = 60;
    const scale = clamp(Math.min((width - margin) / (right - left || 1), (height - margin) / (bottom - top || 1)), MIN_SCALE, MAX_WHOLE_SCALE);
    return { scale, x: width / 2 - ((left + right) / 2) * scale, y: height / 2 - ((top + bottom) / 2) * scale };
  }

  #zoomed(factor: number, x: number, y: number): View {
    const scale = clamp(this.#view.scale * factor, MIN_SCALE, MAX_SCALE);
    const ratio = scale / this.#view.scale;
    return { scale, x: x - (x - this.#view.x) * ratio, y: y - (y - this.#view.y) * ratio };
  }

  #jumpTo(view: View): void {
    cancelAnimationFrame(this.#movement);
    this.#isFollowing = false;
    this.#view = view;
    this.#noteMotion();
    this.#redraw();
  }

  #noteMotion(): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      this.#redraw();
    }, REST_MILLISECONDS);
  }

  #moveTo(target: View): void {
    if (isStill()) return this.#jumpTo(target);
    this.#jumpTo(this.#view);
    const start = performance.now();
    const from = this.#view;
    const move = (now: number) => {
      const part = clamp((now - start) / MOVE_MILLISECONDS, 0, 1);
      const eased = 1 - (1 - part) ** 3;
      const between = (one: number, other: number) => one + (other - one) * eased;
      this.#view = { scale: between(from.scale, target.scale), x: between(from.x, target.x), y: between(from.y, target.y) };
      this.#noteMotion();
      this.#redraw();
      if (part < 1) this.#movement = requestAnimationFrame(move);
    };
    this.#movement = requestAnimationFrame(move);
  }

  #listen(): void {
    const canvas = this.#canvas;
    const on = <K extends keyof HTMLElementEventMap>(name: K, listener: (event: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions) => {
      canvas.addEventListener(name, listener, options);
      this.#endings.push(() => canvas.removeEventListener(name, listener));
    };
    on("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      this.#jumpTo(this.#zoomed(Math.exp(-event.deltaY * lines * 0.002), event.offsetX, event.offsetY));
    }, { passive: false });
    on("pointerdown", (event) => {
      if (this.#pointers.size === 0) this.#travelled = 0;
      // A mouse draws from any face, a finger from that of the chosen one, so that the picture can be moved by it.
      const node = this.#pointers.size === 0 && event.button === 0 ? this.#nodeAt(event.offsetX, event.offsetY, 2) : null;
      this.#drawnFrom = node && node.id !== USER && (event.pointerType === "mouse" || node === this.#selected) ? node : null;
      this.#pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      canvas.setPointerCapture(event.pointerId);
    });
    on("pointermove", (event) => this.#onMove(event));
    const end = (event: PointerEvent) => {
      this.#pointers.delete(event.pointerId);
      this.#drawnFrom = null;
      this.#redraw();
    };
    on("pointerup", (event) => {
      const isTap = this.#pointers.size === 1 && this.#travelled < TAP_PIXELS;
      const from = this.#drawnFrom;
      end(event);
      const to = from && !isTap ? this.#nodeAt(event.offsetX, event.offsetY, 12) : null;
      if (from && to && to !== from && to.id !== USER) this.#onTie(from, to);
      if (isTap) this.#onSelect(this.#nodeAt(event.offsetX, event.offsetY, event.pointerType === "touch" ? 22 : 8));
    });
    on("pointercancel", end);
    on("pointerleave", () => this.#hover(null));
  }

  #onMove(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") this.#hover(this.#nodeAt(event.offsetX, event.offsetY, 4));
      return;
    }
    const now: [number, number] = [event.offsetX, event.offsetY];
    this.#travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.#pointers.set(event.pointerId, now);
    if (!other && this.#drawnFrom) {
      this.#drawnTo = now;
      this.#hover(this.#nodeAt(...now, 12));
      this.#redraw();
      return;
    }
    this.#drawnFrom = null;
    if (!other) {
      if (this.#travelled >= TAP_PIXELS) this.#jumpTo({ ...this.#view, x: this.#view.x + now[0] - before[0], y: this.#view.y + now[1] - before[1] });
      return;
    }
    // Two fingers: what is between them stays between them.
    const distance = (point: [number, number]) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
    const zoomed = this.#zoomed(distance(now) / distance(before), (before[0] + other[0]) / 2, (before[1] + other[1]) / 2);
    this.#jumpTo({ ...zoomed, x: zoomed.x + (now[0] - before[0]) / 2, y: zoomed.y + (now[1] - before[1]) / 2 });
  }

  #hover(node: Node | null): void {
    if (node === this.#hovered) return;
    this.#hovered = node;
    this.#canvas.classList.toggle("over-node", node !== null);
    this.#redraw();
  }

  #nodeAt(x: number, y: number, margin: number): Node | null {
    const { scale, x: left, y: top } = this.#view;
    let nearest: Node | null = null;
    let least = Infinity;
    for (const [index, node] of this.#graph.nodes.entries()) {
      const distance = Math.hypot(this.#positions[2 * index]! * scale + left - x, this.#positions[2 * index + 1]! * scale + top - y);
      if (distance <= this.#radii[index]! * scale + margin && distance < least) [nearest, least] = [node, distance];
    }
    return nearest;
  }

  #redraw(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw(): void {
    const context = this.#context;
    const { width, height } = this.#size();
    const ratio = devicePixelRatio || 1;
    const colors = (this.#known ??= this.#colors());
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (this.#positions.length === 0) return;
    const chosen = this.#drawnFrom ?? this.#hovered ?? this.#selected;
    const near = new Set<Node>(chosen ? [chosen, ...chosen.ties.map((tie) => otherEnd(tie, chosen)), ...this.#way] : []);
    const inSight = this.#inSight(width, height);
    const hulls = inSight.length <= MAX_FACES ? this.#drawHulls(colors) : [];
    this.#drawTies(colors, chosen, width, height);
    this.#drawNodes(colors, chosen, near, inSight);
    this.#drawLabels(colors, chosen, near, inSight, hulls, width, height);
  }

  // The colours are those of the canvas in its styles, and of the hues beside it: a custom property would still be a formula.
  #colors(): Colors {
    const { color, backgroundColor, borderTopColor, outlineColor, caretColor } = getComputedStyle(this.#canvas);
    const hues = new Map<string, Hue>();
    for (const each of this.#canvas.parentElement!.querySelectorAll<HTMLElement>(".network-hues > *")) {
      const style = getComputedStyle(each);
      hues.set(each.className, { surface: style.backgroundColor, ink: style.color, dot: style.borderTopColor, hull: style.outlineColor });
    }
    return { text: color, surface: backgroundColor, line: borderTopColor, accent: outlineColor, tie: caretColor, hues };
  }

  // The nodes that are inside, by their index.
  #inSight(width: number, height: number): number[] {
    const { scale, x, y } = this.#view;
    const found: number[] = [];
    for (let index = 0; index < this.#radii.length; index++) {
      const radius = this.#radius(index);
      const [atX, atY] = [this.#positions[2 * index]! * scale + x, this.#positions[2 * index + 1]! * scale + y];
      if (atX > -radius && atY > -radius && atX < width + radius && atY < height + radius) found.push(index); // or it has no place yet
    }
    return found;
  }

  #drawTies({ line, tie, accent }: Colors, chosen: Node | null, width: number, height: number): void {
    const context = this.#context;
    const { scale, x, y } = this.#view;
    const positions = this.#positions;
    // A line costs 10 microseconds without a graphics card, so only some of many are drawn in motion: always the same ones.
    const isMoving = this.#rest !== undefined;
    const step = isMoving ? Math.ceil(this.#graph.ties.length / MAX_MOVING_TIES) : 1;
    const stroke = (pairs: ArrayLike<number>, step = 1) => {
      context.beginPath();
      for (let at = 0; at < pairs.length; at += 2 * step) {
        const [from, to] = [2 * pairs[at]!, 2 * pairs[at + 1]!];
        const [fromX, fromY] = [positions[from]! * scale + x, positions[from + 1]! * scale + y];
        const [toX, toY] = [positions[to]! * scale + x, positions[to + 1]! * scale + y];
        const isOutside = Math.max(fromX, toX) < 0 || Math.min(fromX, toX) > width || Math.max(fromY, toY) < 0 || Math.min(fromY, toY) > height;
        if (isOutside) continue;
        context.moveTo(fromX, fromY);
        context.lineTo(toX, toY);
      }
      context.stroke();
    };
    context.lineWidth = clamp(scale * 1.5, 0.5, 1.5);
    context.globalAlpha = chosen ? 0.3 : 0.6;
    context.strokeStyle = line;
    stroke(this.#pairs, step);
    context.globalAlpha = 1;
    context.lineWidth = clamp(scale * 2.5, 1.5, 2.5);
    context.strokeStyle = tie;
    if (chosen && this.#way.length === 0) stroke(this.#indexesOf(chosen.ties));
    stroke(this.#way.slice(1).flatMap((node, at) => [this.#index.get(this.#way[at]!)!, this.#index.get(node)!]));
    if (!this.#drawnFrom || this.#travelled < TAP_PIXELS) return;
    const from = 2 * this.#index.get(this.#drawnFrom)!;
    context.strokeStyle = accent;
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(positions[from]! * scale + x, positions[from + 1]! * scale + y);
    context.lineTo(...this.#drawnTo);
    context.stroke();
    context.setLineDash([]);
  }

  // Returns where their names stand: above the highest face.
  #drawHulls({ hues }: Colors): { cluster: Cluster; x: number; y: number }[] {
    const context = this.#context;
    const { scale, x: left, y: top } = this.#view;
    context.lineJoin = "round";
    return this.#clusters.map((cluster) => {
      const points = cluster.indexes.map((index): Point => [this.#positions[2 * index]! * scale + left, this.#positions[2 * index + 1]! * scale + top]);
      const margin = Math.max(...cluster.indexes.map((index) => this.#radius(index))) + HULL_MARGIN;
      context.fillStyle = context.strokeStyle = hues.get(cluster.hue)!.hull;
      context.lineWidth = 2 * margin;
      context.beginPath();
      for (const point of hullOf(points)) context.lineTo(...point);
      context.closePath();
      context.fill();
      context.stroke();
      const [x, y] = points.reduce((highest, point) => (point[1] < highest[1] ? point : highest));
      return { cluster, x, y: y - margin };
    });
  }

  // On the screen.
  #radius(index: number): number {
    return Math.max(MIN_RADIUS, this.#radii[index]! * this.#view.scale);
  }

  // Faces with a ring, or dots where there are many. Each by itself: a path of ten thousand circles takes three times as long,
  // as all of them are filled at once.
  #drawNodes({ accent, surface, hues }: Colors, chosen: Node | null, near: ReadonlySet<Node>, inSight: readonly number[]): void {
    const context = this.#context;
    const { scale, x: left, y: top } = this.#view;
    const { nodes } = this.#graph;
    const hasFaces = inSight.length <= MAX_FACES;
    const isInSight = new Uint8Array(nodes.length);
    for (const index of inSight) isInSight[index] = 1;
    const circle = (x: number, y: number, radius: number) => {
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
    };
    const draw = (index: number, hue: Hue) => {
      const [x, y] = [this.#positions[2 * index]! * scale + left, this.#positions[2 * index + 1]! * scale + top];
      const radius = this.#radius(index);
      if (radius < SQUARE_RADIUS) return context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      circle(x, y, radius);
      context.fill();
      if (!hasFaces || radius < FACE_RADIUS) return;
      const inside = radius - clamp(radius * 0.12, 1.5, 3);
      context.fillStyle = surface;
      circle(x, y, inside);
      context.fill();
      context.fillStyle = hue.dot;
      const face = this.#faces.of(nodes[index]!, hues);
      const size = inside - 1;
      context.drawImage(face, x - size, y - size, 2 * size, 2 * size);
    };
    for (const isNear of near.size ? [false, true] : [false]) {
      context.globalAlpha = chosen && !isNear ? 0.35 : 1;
      for (const [ring, indexes] of this.#nodesByRing) {
        const hue = hues.get(ring)!;
        context.fillStyle = hue.dot;
        for (const index of indexes) if (isInSight[index] && near.has(nodes[index]!) === isNear) draw(index, hue);
      }
    }
    context.globalAlpha = 1;
    context.strokeStyle = accent;
    context.lineWidth = 3;
    for (const node of new Set([this.#selected, this.#drawnFrom && this.#hovered, this.#way[0]])) {
      const index = node ? this.#index.get(node) : undefined;
      if (index === undefined) continue;
      circle(this.#positions[2 * index]! * scale + left, this.#positions[2 * index + 1]! * scale + top, this.#radius(index) + 3);
      context.stroke();
    }
  }

  // The chosen one first, those next to it, then who has most ties: each name where it covers no other, and no face.
  #drawLabels({ text, surface, hues }: Colors, chosen: Node | null, near: ReadonlySet<Node>, inSight: readonly number[], hulls: readonly { cluster: Cluster; x: number; y: number }[], width: number, height: number): void {
    const context = this.#context;
    const { scale, x: left, y: top } = this.#view;
    const taken = new TakenSpace();
    const place = (index: number) => [this.#positions[2 * index]! * scale + left, this.#positions[2 * index + 1]! * scale + top] as const;
    if (inSight.length <= MAX_FACES) {
      for (const index of inSight) {
        const [x, y] = place(index);
        const side = this.#radius(index) * 0.85; // a name may touch the corner of the square around
        taken.block({ left: x - side, top: y - side, width: 2 * side, height: 2 * side });
      }
    }
    context.font = `600 12px ${getComputedStyle(this.#canvas).fontFamily}`;
    context.textAlign = "left";
    context.textBaseline = "top";
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = surface;
    context.fillStyle = text;
    let written = 0;
    let tried = 0;
    const write = (node: Node) => {
      const index = this.#index.get(node)!;
      const [x, middle] = place(index);
      writeAt(node.name, x, middle + this.#radius(index) + 4);
    };
    const writeAt = (whole: string, x: number, y: number) => {
      if (x < 0 || y < 0 || x > width || y > height) return;
      tried++;
      const [name, length] = this.#labelOf(whole);
      const start = clamp(x - length / 2, 2, Math.max(2, width - length - 2));
      if (!taken.take({ left: start - 2, top: y, width: length + 4, height: LABEL_HEIGHT })) return;
      context.strokeText(name, start, y + 1);
      context.fillText(name, start, y + 1);
      written++;
    };
    for (const node of near) write(node);
    for (const { cluster, x, y } of hulls) {
      context.fillStyle = hues.get(cluster.hue)!.ink;
      context.strokeStyle = hues.get(cluster.hue)!.hull;
      writeAt(cluster.name, x, y);
    }
    [context.fillStyle, context.strokeStyle] = [text, surface];
    if (chosen && this.#selected && chosen !== this.#selected) write(this.#selected);
    // Few of those who come late fit, so not all of thousands are tried.
    const most = this.#rest === undefined ? MAX_LABELS : MAX_LABELS_MOVING;
    for (const node of this.#byTies) {
      if (written >= most || tried >= 4 * most) break;
      if (!near.has(node) && node !== this.#selected) write(node);
    }
  }

  // The name as it is written, cut if it is long, and its width.
  #labelOf(name: string): readonly [text: string, width: number] {
    let label = this.#labels.get(name);
    if (label === undefined) this.#labels.set(name, (label = fitted(name, MAX_LABEL, (text) => this.#context.measureText(text).width)));
    return label;
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
