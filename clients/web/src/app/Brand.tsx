import { t } from "../i18n/index.ts";

export function Brand({ class: className = "", path }: { class?: string; path: string }) {
  return (
    <a class={`brand ${className}`} href={path}>
      <img src="/app/icon.svg" alt="" width="28" height="28" />
      {t("Contact network")}
    </a>
  );
}
