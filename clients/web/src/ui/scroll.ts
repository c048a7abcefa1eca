// What scrolls: from 70rem on the pane of the element, otherwise the window.

export interface Scroller {
  top: number; // of its visible part, in the window
  height: number;
  offset: number; // how far it is scrolled
  scrollTo: (offset: number) => void;
}

export function paneOf(element: Element | null | undefined): HTMLElement | null {
  const pane = element?.closest<HTMLElement>(".pane");
  return pane && getComputedStyle(pane).overflowY === "auto" ? pane : null;
}

export function scrollerOf(element: Element | null | undefined): Scroller {
  const pane = paneOf(element);
  if (!pane) return { top: 0, height: innerHeight, offset: scrollY, scrollTo: (offset) => window.scrollTo(0, offset) };
  return {
    top: pane.getBoundingClientRect().top,
    height: pane.clientHeight,
    offset: pane.scrollTop,
    scrollTo: (offset) => pane.scrollTo(0, offset),
  };
}

// Scrolls to an element in what scrolls, and nothing around it.
export function reveal(element: Element | null | undefined, margin = 16): void {
  if (!element) return;
  const { top, height, offset, scrollTo } = scrollerOf(element);
  const { top: begin, bottom: end } = element.getBoundingClientRect();
  if (begin >= top && end <= top + height) return;
  scrollTo(offset + begin - top - margin);
}
