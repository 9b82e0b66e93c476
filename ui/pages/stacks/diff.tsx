/** A unified diff with colors. @module */

import { plain } from "../../base/text.ts";

const KINDS: Record<string, string> = { "+": "added", "-": "removed", "@": "place" };

/** @param props.diff As the service writes it; empty if there is no difference. */
export function Diff({ name, diff }: { name: string; diff: string }) {
  if (diff === "") return <p class="muted">No differences.</p>;
  return (
    <div class="diff" role="region" aria-label={name} tabIndex={0}>
      {diff.trimEnd().split("\n").map((line, at) => (
        <div key={at} class={/^(?:---|\+\+\+) /.test(line) ? "place" : KINDS[line[0]!]}>
          {plain(line)}
        </div>
      ))}
    </div>
  );
}
