/**
 * Names with their values.
 *
 * @module
 */

import type { ComponentChildren } from "preact";

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts-list">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
