// A list of any length of which only the visible rows are in the document. It is one Tab stop: arrows, Page Up and Down, Home
// and End move inside, and typing goes to the row that begins with it. It scrolls with its pane or the page.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { keyActions } from "./keyboard.ts";
import { scrollerOf } from "./scroll.ts";

const OVERSCAN = 6;
const TYPING_PAUSE_MILLISECONDS = 700;

const HEADING_REM = 1.75;

interface Props<T> {
  label: string;
  items: readonly T[];
  rowHeight: number; // in pixels
  keyOf: (item: T) => string;
  textOf: (item: T) => string; // what typing is compared with, folded
  render: (item: T, index: number, isCurrent: boolean) => ComponentChildren;
  onOpen: (item: T) => void;
  onToggle?: (item: T, extend: boolean, from: T) => void; // Space, and Shift with Space or an arrow, which comes from another row
  onMove?: ((item: T) => void) | undefined; // the keys have moved to it
  // The headings that stand above some rows, in order, such as letters.
  headings?: readonly Heading[];
  // Moves the focus to a row from outside, such as from an index of letters.
  control?: { current: ListControl | null };
}

export interface Heading {
  index: number; // of the row below it
  text: string;
}

export interface ListControl {
  show: (index: number) => void; // scrolls to a row, and Tab leads there
  focus: (index: number) => void;
  move: (index: number) => void; // as the arrows do
  current: () => number;
}

const NO_HEADINGS: readonly Heading[] = [];

export function VirtualList<T>({ label, items, rowHeight, keyOf, textOf, render, onOpen, onToggle, onMove, headings = NO_HEADINGS, control }: Props<T>) {
  const root = useRef<HTMLDivElement>(null);
  const [[first, last], setRange] = useState<[number, number]>([0, 30]);
  const [current, setCurrent] = useState(0);
  const wantsFocus = useRef(false);
  const typed = useRef({ text: "", at: 0 });
  const at = Math.min(current, Math.max(items.length - 1, 0));
  const headingHeight = headings.length ? HEADING_REM * parseFloat(getComputedStyle(document.documentElement).fontSize) : 0;

  // Where a row begins, in pixels from the top of the list.
  const topOf = (index: number) => {
    let above = 0;
    while (above < headings.length && headings[above]!.index <= index) above++;
    return index * rowHeight + above * headingHeight;
  };
  // The row at a distance from the top.
  const rowAt = (top: number) => {
    let above = headings.length;
    while (above > 0 && topOf(headings[above - 1]!.index) > top) above--;
    return Math.floor((top - above * headingHeight) / rowHeight);
  };

  useLayoutEffect(() => {
    const measure = () => {
      const scroller = scrollerOf(root.current);
      const top = (root.current?.getBoundingClientRect().top ?? 0) - scroller.top;
      const from = Math.max(0, rowAt(-top) - OVERSCAN);
      const to = Math.min(items.length, rowAt(scroller.height - top) + 1 + OVERSCAN);
      setRange((range) => (range[0] === from && range[1] === to ? range : [from, to]));
    };
    measure();
    addEventListener("scroll", measure, { passive: true, capture: true }); // of the window and of panes
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", measure, { capture: true });
      removeEventListener("resize", measure);
    };
  }, [items.length, rowHeight, headings]);

  const show = (index: number) => {
    const scroller = scrollerOf(root.current);
    const row = root.current!.getBoundingClientRect().top - scroller.top + topOf(index);
    // Below the sticky head and above the navigation of a phone.
    if (row < 180 || row + rowHeight > scroller.height - 80) scroller.scrollTo(Math.max(0, row + scroller.offset - scroller.height / 4));
    setCurrent(index);
  };
  const focus = (index: number) => {
    const target = Math.max(0, Math.min(index, items.length - 1));
    wantsFocus.current = true;
    show(target);
    if (target === at) takeFocus(); // nothing is rendered anew then
  };
  const move = (index: number) => {
    focus(index);
    const item = items[Math.max(0, Math.min(index, items.length - 1))];
    if (item) onMove?.(item);
  };
  if (control) control.current = { show, focus, move, current: () => at };

  const takeFocus = () => {
    if (!wantsFocus.current) return;
    const row = root.current?.querySelector<HTMLElement>(`[data-index="${at}"]`);
    if (!row) return; // not rendered yet: the scroll renders it
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
  };
  // Before the next key is handled, which may follow at once.
  useLayoutEffect(takeFocus);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (Date.now() - typed.current.at > TYPING_PAUSE_MILLISECONDS) typed.current.text = "";
    const page = Math.max(1, Math.floor(scrollerOf(root.current).height / rowHeight) - 2);
    const target =
      { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1, PageDown: at + page, PageUp: at - page }[event.key];
    if (target !== undefined) {
      event.preventDefault();
      if (event.shiftKey && onToggle) focus(target);
      else move(target);
      if (event.shiftKey && onToggle) onToggle(items[Math.max(0, Math.min(target, items.length - 1))]!, true, items[at]!);
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      // Into what can be done with the row, and back.
      const row = root.current!.querySelector<HTMLElement>(`[data-index="${at}"]`)!;
      const stops = [row, ...row.querySelectorAll<HTMLElement>("input, a, button")].filter((stop) => stop === row || stop.offsetParent !== null);
      const isForward = (event.key === "ArrowRight") === (getComputedStyle(row).direction === "ltr");
      const stop = stops[stops.indexOf(document.activeElement as HTMLElement) + (isForward ? 1 : -1)];
      if (stop) event.preventDefault();
      stop?.focus();
    } else if (event.key === "Enter" && (event.target as HTMLElement).dataset["index"]) {
      event.preventDefault();
      onOpen(items[at]!);
    } else if (event.key === " " && typed.current.text === "" && onToggle) {
      event.preventDefault();
      onToggle(items[at]!, event.shiftKey, items[at]!);
    } else if (event.key.length === 1) {
      // A letter that is a key of the page acts, unless it follows others that are typed.
      if (typed.current.text === "" && (event.key === " " || keyActions.peek().some(({ key }) => key === event.key))) return;
      event.preventDefault();
      typed.current = { text: typed.current.text + event.key.toLowerCase(), at: Date.now() };
      const found = items.findIndex((item) => textOf(item).startsWith(typed.current.text));
      if (found >= 0) move(found);
    }
  };

  const shown = items.slice(first, last);
  return (
    <div ref={root} class="virtual" role="grid" aria-label={label} aria-rowcount={items.length} onKeyDown={onKeyDown} style={{ height: `${items.length * rowHeight + headings.length * headingHeight}px` }}>
      {headings.map(
        ({ index, text }) =>
          index >= first &&
          index <= last && (
            <div key={`heading ${text}`} class="virtual-heading" aria-hidden="true" style={{ transform: `translateY(${topOf(index) - headingHeight}px)`, height: `${headingHeight}px` }}>
              {text}
            </div>
          ),
      )}
      {shown.map((item, offset) => {
        const index = first + offset;
        return (
          <div
            key={keyOf(item)}
            class="virtual-row"
            role="row"
            aria-rowindex={index + 1}
            data-index={index}
            tabIndex={index === at || (offset === 0 && (at < first || at >= last)) ? 0 : -1}
            style={{ transform: `translateY(${topOf(index)}px)`, height: `${rowHeight}px` }}
            onFocus={() => setCurrent(index)}
          >
            {render(item, index, index === at)}
          </div>
        );
      })}
    </div>
  );
}
