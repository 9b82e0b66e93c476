/** Targets of rules and windows, in words. @module */

import type { AlertTarget } from "../api/types.ts";

/** E.g. `the host`, `all containers`, `web*, db in shop with tier=db`. */
export function targetText(target: AlertTarget): string {
  if (target.kind === "host") return "the host";
  if (target.kind === "stacks") return target.stacks?.join(", ") ?? "all stacks";
  const { containers, stacks, labels } = target;
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    containers?.join(", ") ?? "all containers",
    ...(stacks ? [`in ${stacks.join(", ")}`] : []),
    ...(pairs.length > 0 ? [`with ${pairs.join(", ")}`] : []),
  ].join(" ");
}
