/**
 * The frame of a page: its heading, which is also the document's title, and its main actions.
 *
 * @module
 */

import "../shared.ts";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { PRODUCT } from "../base/product.ts";
import { HOST } from "../state/root.ts";
import { session } from "../state/session.ts";

export function Page({ title, lead, actions, children }: {
  title: string;
  /** Next to the heading: a state, a status. */
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  useTitle(title);
  return (
    <div class="page">
      <header class="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {lead}
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Sets the document's title. */
export function useTitle(title: string): void {
  const server = HOST ?? session.value?.serverName;
  useEffect(() => {
    document.title = [title, ...(server ? [server] : []), PRODUCT].join(" · ");
  }, [title, server]);
}

/** A titled part of a page. */
export function Section({ title, actions, children, wide }: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const id = `section-${title.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <section class={wide ? "section wide" : "section"} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
