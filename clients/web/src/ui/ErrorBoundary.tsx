// What a page shows instead of nothing when it fails: what is wrong, and what can be done.
import { Component, type ComponentChildren } from "preact";
import { t } from "../i18n/index.ts";

interface Props {
  children: ComponentChildren;
  home?: string; // the address of a page that works, unless this one is it
}

export class ErrorBoundary extends Component<Props, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    return this.state.error ? <Failed error={this.state.error} home={this.props.home} /> : this.props.children;
  }
}

export function Failed({ error, home }: { error: unknown; home?: string | undefined }) {
  return (
    <div class="page" role="alert">
      <h1 tabIndex={-1}>{t("This page cannot be shown")}</h1>
      <p>{t("Something is wrong with it, or with the data that it shows. What you have typed is kept.")}</p>
      <p class="soft small">{error instanceof Error ? `${error.name}: ${error.message}` : String(error)}</p>
      <p class="row">
        <button class="main" onClick={() => location.reload()}>{t("Load again")}</button>
        {home && <a class="button" href={home}>{t("Go to the people")}</a>}
      </p>
    </div>
  );
}
