/** The clock of links. @module */

import type { Deps } from "../../deps.ts";
import type { LinkClock } from "../link/link.ts";

export const clockOf = ({ fleet, now }: Pick<Deps, "fleet" | "now">): LinkClock => ({
  wallMs: () => now().getTime(),
  steadyMs: () => fleet.steadyMs(),
});
