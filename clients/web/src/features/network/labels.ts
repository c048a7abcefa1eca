// Which names are written: as many as fit without one covering another.

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

const CELL = 64; // pixels; about the width of a name

// Boxes that are taken, in a grid, so that a new one is compared with its neighbourhood alone.
export class TakenSpace {
  readonly #cells = new Map<number, Box[]>();

  // Takes the box, whatever else is there.
  block(box: Box): void {
    for (const cell of cellsOf(box)) this.#add(cell, box);
  }

  // Takes the box if it is free.
  take(box: Box): boolean {
    const cells = [...cellsOf(box)];
    if (cells.some((cell) => this.#cells.get(cell)?.some((other) => overlaps(box, other)))) return false;
    for (const cell of cells) this.#add(cell, box);
    return true;
  }

  #add(cell: number, box: Box): void {
    const boxes = this.#cells.get(cell);
    if (boxes) boxes.push(box);
    else this.#cells.set(cell, [box]);
  }
}

// The text, or its beginning where it is too long, and its width.
export function fitted(text: string, most: number, widthOf: (text: string) => number): readonly [text: string, width: number] {
  const width = widthOf(text);
  if (width <= most) return [text, width];
  const signs = [...text].slice(0, 100);
  let [least, end] = [1, signs.length];
  while (least < end) {
    const middle = Math.ceil((least + end) / 2);
    if (widthOf(`${signs.slice(0, middle).join("")}…`) <= most) least = middle;
    else end = middle - 1;
  }
  const cut = `${signs.slice(0, least).join("").trimEnd()}…`;
  return [cut, widthOf(cut)];
}

function* cellsOf({ left, top, width, height }: Box): Generator<number> {
  for (let column = Math.floor(left / CELL); column <= Math.floor((left + width) / CELL); column++) {
    for (let row = Math.floor(top / CELL); row <= Math.floor((top + height) / CELL); row++) yield column * 4096 + row;
  }
}

function overlaps(one: Box, other: Box): boolean {
  const isBeside = one.left + one.width <= other.left || other.left + other.width <= one.left;
  return !isBeside && one.top < other.top + other.height && other.top < one.top + one.height;
}
