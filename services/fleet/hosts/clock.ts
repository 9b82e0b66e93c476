/** The clock of links. @module */

import type { Deps } from "../../deps.ts";
import type { LinkClock } from "../link/link.ts";

export const clockOf = ({ now }: Pick<Deps, "now">): LinkClock => ({
  wallMs: () => now().getTime(),
  steadyMs: () => performance.now(),
});
