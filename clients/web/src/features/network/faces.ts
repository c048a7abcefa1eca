// The faces of the network, drawn once and kept: a photo, or the first letters of the name on the person's colour.
import { connection } from "../../app/session.ts";
import { initials } from "../../ui/Avatar.tsx";
import { type Node, USER } from "./graph.ts";
import type { Hue } from "./picture.ts";

const SIZE = 96; // pixels; the largest face is about half of it, on a screen of twice the dots
const MAX_KEPT = 600;

export class FaceCache {
  readonly #faces = new Map<string, HTMLCanvasElement>();
  readonly #onLoad: () => void;

  // `onLoad` is called when a photo has come.
  constructor(onLoad: () => void) {
    this.#onLoad = onLoad;
  }

  // The colours have changed.
  clear(): void {
    this.#faces.clear();
  }

  of(node: Node, hues: ReadonlyMap<string, Hue>): HTMLCanvasElement {
    const key = `${node.id} ${node.photo} ${node.name}`;
    const known = this.#faces.get(key);
    if (known) return known;
    if (this.#faces.size >= MAX_KEPT) this.#faces.clear();
    const face = document.createElement("canvas");
    face.width = face.height = SIZE;
    this.#faces.set(key, face);
    drawLetters(face, node, hues.get(node.hue)!);
    const url = connection.photoUrl(node, node.id === USER);
    if (url) {
      const image = new Image();
      image.src = url;
      image.onload = () => {
        drawPhoto(face, image);
        this.#onLoad();
      };
    }
    return face;
  }
}

function clipped(face: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = face.getContext("2d")!;
  context.beginPath();
  context.arc(SIZE / 2, SIZE / 2, SIZE / 2, 0, 2 * Math.PI);
  context.clip();
  return context;
}

function drawLetters(face: HTMLCanvasElement, { name }: Node, { surface, ink }: Hue): void {
  const context = clipped(face);
  context.fillStyle = surface;
  context.fillRect(0, 0, SIZE, SIZE);
  context.fillStyle = ink;
  context.font = `600 ${SIZE * 0.36}px ${getComputedStyle(document.body).fontFamily}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(initials(name), SIZE / 2, SIZE / 2 + SIZE * 0.02);
}

function drawPhoto(face: HTMLCanvasElement, image: HTMLImageElement): void {
  const side = Math.min(image.naturalWidth, image.naturalHeight);
  clipped(face).drawImage(image, (image.naturalWidth - side) / 2, (image.naturalHeight - side) / 2, side, side, 0, 0, SIZE, SIZE);
}
