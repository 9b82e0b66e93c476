/**
 * Tables of kinds in the documentation, which follow from the kinds. Run without arguments, it writes
 * them.
 *
 * @module
 */

import { ALERT_METRICS } from "../../services/alerts/metrics/mod.ts";
import { EVENT_KINDS } from "../../services/events/kinds/mod.ts";

interface Kind {
  id: string;
  group: string;
  description: string;
}

/** Pages with a table between the comments `<!-- kinds -->` and `<!-- end of kinds -->`. */
export const KIND_TABLES: Readonly<Record<string, readonly string[][]>> = {
  "docs/webhooks.md": [
    ["group", "event", "severity", "when"],
    ...rowsOf(EVENT_KINDS, ({ severity }) => [severity]),
  ],
  "docs/alerts.md": [
    ["group", "metric", "unit", "value"],
    ...rowsOf(ALERT_METRICS, ({ unit = "" }) => [unit]),
  ],
};

/** The page with its present table, which `deno fmt` aligns. */
export function withTable(page: string, [head, ...rows]: readonly string[][]): string {
  const lines = [head!, head!.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return page.replace(
    /(?<=<!-- kinds -->\n)[^]*?(?=<!-- end of kinds -->)/,
    () => `\n${lines.join("\n")}\n\n`,
  );
}

function rowsOf<Own extends Kind>(
  kinds: readonly Own[],
  more: (kind: Own) => string[],
): string[][] {
  return kinds.map((kind, at) => [
    kind.group === kinds[at - 1]?.group ? "" : kind.group,
    `\`${kind.id}\``,
    ...more(kind),
    kind.description,
  ]);
}

if (import.meta.main) {
  for (const [path, table] of Object.entries(KIND_TABLES)) {
    await Deno.writeTextFile(path, withTable(await Deno.readTextFile(path), table));
  }
}
