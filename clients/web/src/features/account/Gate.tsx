// The frame of the pages before a sign-in: a picture on wide screens, and a form whose first field has the focus.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Waiting } from "../../app/Waiting.tsx";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/Page.tsx";
import "./account.css";

export function Gate({ title, children }: { title: string; children: ComponentChildren }) {
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!form.current?.contains(document.activeElement) || document.activeElement?.tagName === "H1") form.current?.querySelector("input")?.focus();
  }, []);
  return (
    <div class="gate">
      <Waiting />
      <div class="gate-art" aria-hidden="true">
        <p class="gate-claim">{t("Everyone you know, well remembered")}</p>
        <img src="/app/people.svg" alt="" width="500" height="430" />
        <p>{t("Yours alone: on your own server, on all your devices, without a network too.")}</p>
      </div>
      <div class="gate-form" ref={form}>
        <div class="gate-inner">
          <a class="brand" href="/">
            <img src="/app/icon.svg" alt="" width="34" height="34" />
            {t("Contact network")}
          </a>
          <Page title={title}>{children}</Page>
        </div>
      </div>
    </div>
  );
}
