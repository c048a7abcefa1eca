// Nothing to show yet: dots around you in the colour of what would stand here, what it is, and what to do.
import type { ComponentChildren } from "preact";

// The hues of the dots.
const KINDS = { accent: [2, 5, 0], date: [11, 0, 11], touch: [5, 5, 4], note: [2, 2, 1], tie: [9, 9, 10], place: [6, 7, 6] } as const;

const DOTS = [[12, 36, 8.5], [98, 14, 7], [80, 46, 5.5]] as const;

export function Empty({ kind = "accent", title, children }: { kind?: keyof typeof KINDS; title?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <svg class="empty-dots" viewBox="0 0 108 54" width="6.75rem" height="3.375rem" aria-hidden="true">
        {DOTS.map(([x, y]) => <path key={x} d={`M54 26L${x} ${y}`} />)}
        {DOTS.map(([x, y, radius], index) => <circle key={x} class={`hue-${KINDS[kind][index]}`} cx={x} cy={y} r={radius} />)}
        <circle class="you" cx="54" cy="26" r="9.5" />
      </svg>
      {title && <h2>{title}</h2>}
      {children}
    </div>
  );
}
