// A list of any length of which only the visible rows are in the document. It is one Tab stop: arrows, Page Up and Down, Home
// and End move inside, and typing goes to the row that begins with it. It scrolls with its pane or the page.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { keyActions } from "./keyboard.ts";
import { scrollerOf } from "./scroll.ts";

const OVERSCAN = 6;
const TYPING_PAUSE_MILLISECONDS = 700;

interface Props<T> {
  label: string;
  items: readonly T[];
  rowHeight: number; // in pixels
  keyOf: (item: T) => string;
  textOf: (item: T) => string; // what typing is compared with, folded
  render: (item: T, index: number, isCurrent: boolean) => ComponentChildren;
  onOpen: (item: T) => void;
  onToggle?: (item: T, extend: boolean) => void; // Space, and Shift with Space
  // Moves the focus to a row from outside, such as from an index of letters.
  control?: { current: ListControl | null };
}

export interface ListControl {
  focus: (index: number) => void;
  scrollTo: (index: number) => void;
  current: () => number;
}

export function VirtualList<T>({ label, items, rowHeight, keyOf, textOf, render, onOpen, onToggle, control }: Props<T>) {
  const root = useRef<HTMLDivElement>(null);
  const [[first, last], setRange] = useState<[number, number]>([0, 30]);
  const [current, setCurrent] = useState(0);
  const wantsFocus = useRef(false);
  const typed = useRef({ text: "", at: 0 });
  const at = Math.min(current, Math.max(items.length - 1, 0));

  useLayoutEffect(() => {
    const measure = () => {
      const scroller = scrollerOf(root.current);
      const top = (root.current?.getBoundingClientRect().top ?? 0) - scroller.top;
      const from = Math.max(0, Math.floor(-top / rowHeight) - OVERSCAN);
      const to = Math.min(items.length, Math.ceil((scroller.height - top) / rowHeight) + OVERSCAN);
      setRange((range) => (range[0] === from && range[1] === to ? range : [from, to]));
    };
    measure();
    addEventListener("scroll", measure, { passive: true, capture: true }); // of the window and of panes
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", measure, { capture: true });
      removeEventListener("resize", measure);
    };
  }, [items.length, rowHeight]);

  const scrollTo = (index: number) => {
    const scroller = scrollerOf(root.current);
    const top = (root.current?.getBoundingClientRect().top ?? 0) - scroller.top + scroller.offset + index * rowHeight;
    scroller.scrollTo(Math.max(0, top - scroller.height / 4));
  };
  const focus = (index: number) => {
    const next = Math.max(0, Math.min(index, items.length - 1));
    wantsFocus.current = true;
    setCurrent(next);
    const scroller = scrollerOf(root.current);
    const row = root.current!.getBoundingClientRect().top - scroller.top + next * rowHeight;
    // Below a sticky bar and above the navigation of a phone.
    if (row < 150 || row + rowHeight > scroller.height - 80) scrollTo(next);
  };
  if (control) control.current = { focus, scrollTo, current: () => at };

  // Before the next key is handled, which may follow at once.
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const row = root.current?.querySelector<HTMLElement>(`[data-index="${at}"]`);
    if (!row) return; // not rendered yet: the scroll renders it
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (Date.now() - typed.current.at > TYPING_PAUSE_MILLISECONDS) typed.current.text = "";
    const page = Math.max(1, Math.floor(scrollerOf(root.current).height / rowHeight) - 2);
    const target =
      { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1, PageDown: at + page, PageUp: at - page }[event.key];
    if (target !== undefined) {
      event.preventDefault();
      focus(target);
      if (event.shiftKey && onToggle) onToggle(items[Math.max(0, Math.min(target, items.length - 1))]!, true);
    } else if (event.key === "Enter" && (event.target as HTMLElement).dataset["index"]) {
      event.preventDefault();
      onOpen(items[at]!);
    } else if (event.key === " " && typed.current.text === "" && onToggle) {
      event.preventDefault();
      onToggle(items[at]!, event.shiftKey);
    } else if (event.key.length === 1) {
      // A letter that is a key of the page acts, unless it follows others that are typed.
      if (typed.current.text === "" && (event.key === " " || keyActions.peek().some(({ key }) => key === event.key))) return;
      event.preventDefault();
      typed.current = { text: typed.current.text + event.key.toLowerCase(), at: Date.now() };
      const found = items.findIndex((item) => textOf(item).startsWith(typed.current.text));
      if (found >= 0) focus(found);
    }
  };

  const shown = items.slice(first, last);
  return (
    <div ref={root} class="virtual" role="grid" aria-label={label} aria-rowcount={items.length} onKeyDown={onKeyDown} style={{ height: `${items.length * rowHeight}px` }}>
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
            style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
            onFocus={() => setCurrent(index)}
          >
            {render(item, index, index === at)}
          </div>
        );
      })}
    </div>
  );
}
