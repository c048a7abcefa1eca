// The frame of a page: its heading has the focus when the page is opened, and is the title of the window.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n/index.ts";
import { Icon } from "./Icon.tsx";
import { goBack } from "../app/router.ts";

interface Props {
  title: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
  back?: string; // the path to which "Back" leads if there is no page before
  width?: "narrow" | "form" | "list" | "wide" | "bleed"; // the last one to the edges: styles/bleed.css
  // The heading's content if it is more than the title.
  heading?: ComponentChildren;
  // Another head, with these as parts.
  head?: (parts: { back: ComponentChildren; heading: ComponentChildren }) => ComponentChildren;
  class?: string;
  // It stands as a list beside another page, which has the heading, the title and the focus.
  isBeside?: boolean;
}

let isFirstPage = true;

export function Page({ title, children, actions, back, width, heading, head, class: className, isBeside = false }: Props) {
  const h1 = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!isBeside) document.title = `${title} · ${t("Contact network")}`;
  }, [title, isBeside]);
  useEffect(() => {
    // The first page after loading leaves the focus to the browser, an autofocus its field, and who moves in the list beside
    // stays there.
    const isInList = document.activeElement?.closest(".list-pane") != null;
    if (!isBeside && !isFirstPage && !isInList && !h1.current?.closest(".page")?.contains(document.activeElement)) h1.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  const backButton = back && (
    <button class="plain icon no-print" onClick={() => goBack(back)} aria-label={t("Back")}>
      <Icon name="back" />
    </button>
  );
  const shown = isBeside ? (
    <h2>{heading ?? title}</h2>
  ) : (
    <h1 ref={h1} tabIndex={-1}>
      {heading ?? title}
    </h1>
  );
  return (
    <div class={`page ${width ?? ""} ${className ?? ""}`}>
      {head ? (
        head({ back: backButton, heading: shown })
      ) : (
        <header>
          <div class="row">
            {backButton}
            {shown}
          </div>
          {actions && <div class="row no-print">{actions}</div>}
        </header>
      )}
      {children}
    </div>
  );
}
