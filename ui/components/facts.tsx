/** Names with their values. @module */

import type { ComponentChildren } from "preact";
import { addStyles } from "./styles.ts";
import { plain } from "../base/text.ts";
import { Time } from "./time.tsx";
import styles from "./facts.css" with { type: "text" };

addStyles(styles);

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts-list">{children}</dl>;
}

/** A time, or what is said without one. */
export function TimeFact({ name, at, none = "–" }: {
  name: string;
  at: string | null | undefined;
  none?: string;
}) {
  return <Fact name={name}>{at == null ? none : <Time at={at} />}</Fact>;
}

/** E.g. a hash, in the font of code. */
export function CodeFact({ name, children }: { name: string; children: string | null }) {
  return (
    <Fact name={name}>
      <code class="wrap">{plain(children ?? "–")}</code>
    </Fact>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
