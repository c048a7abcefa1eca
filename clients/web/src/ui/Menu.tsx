// A menu by the platform's popover, with the keys of the menu pattern: arrows, Home, End, typing what an item begins with, Escape.
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

export interface MenuItem {
  label: string;
  onSelect: () => void;
  isDanger?: boolean;
  isChecked?: boolean; // for a choice that stays
}

interface MenuHeading {
  heading: string;
}

interface Props {
  label: string; // the name of the button
  items: (MenuItem | MenuHeading | false | null | undefined)[];
  children: ComponentChildren;
  class?: string;
  letter?: string; // the key of the page that opens it
}

const TYPING_PAUSE_MILLISECONDS = 700;

export function Menu({ label, items, children, class: className = "plain icon", letter }: Props) {
  const id = useId();
  const popover = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const typed = useRef({ text: "", at: 0 });
  const shown = items.filter((item): item is MenuItem | MenuHeading => Boolean(item));

  const place = () => {
    const around = button.current!.getBoundingClientRect();
    const menu = popover.current!;
    const below = innerHeight - around.bottom;
    const isRightToLeft = getComputedStyle(menu).direction === "rtl";
    const edge = isRightToLeft ? around.left : around.right - menu.offsetWidth;
    menu.style.left = `${Math.max(8, Math.min(edge, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = below > menu.offsetHeight + 8 ? `${around.bottom + 4}px` : `${Math.max(8, around.top - menu.offsetHeight - 4)}px`;
  };
  const entries = () => [...popover.current!.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
  const move = (event: KeyboardEvent) => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const isLetter = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
    const before = Date.now() - typed.current.at > TYPING_PAUSE_MILLISECONDS ? "" : typed.current.text;
    if (isLetter) typed.current = { text: before + event.key.toLowerCase(), at: Date.now() };
    // The first letter goes on to the next item that begins with it, more of them stay where they fit.
    const byText = isLetter && [...all.slice(before ? at : at + 1), ...all].find((entry) => entry.textContent!.trim().toLowerCase().startsWith(typed.current.text));
    const next =
      event.key === "ArrowDown" ? all[(at + 1) % all.length]
      : event.key === "ArrowUp" ? all.at(at <= 0 ? -1 : at - 1)
      : event.key === "Home" ? all[0]
      : event.key === "End" ? all.at(-1)
      : byText || undefined;
    if (event.key === "Tab") popover.current!.hidePopover();
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  };
  return (
    <>
      <button ref={button} type="button" class={className} popoverTarget={id} aria-haspopup="menu" aria-label={label} data-key={letter}>
        {children}
      </button>
      <div
        ref={popover}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        aria-label={label}
        onKeyDown={move}
        onToggle={(event) => {
          if (event.newState !== "open") return;
          place();
          entries()[0]?.focus();
        }}
      >
        {shown.map((item) => "heading" in item ? (
          <div class="menu-heading" role="presentation" key={`heading ${item.heading}`}>
            {item.heading}
          </div>
        ) : (
          <button
            key={item.label}
            type="button"
            tabIndex={-1}
            role={item.isChecked === undefined ? "menuitem" : "menuitemcheckbox"}
            aria-checked={item.isChecked}
            class={item.isDanger ? "danger" : undefined}
            onClick={() => {
              popover.current!.hidePopover();
              item.onSelect();
            }}
          >
            {item.isChecked !== undefined && <span class="menu-mark" aria-hidden="true">{item.isChecked && "✓"}</span>}
            {item.label}
          </button>
        ))}
      </div>
    </>
  );
}
