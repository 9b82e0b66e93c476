/**
 * Steps of the start that encrypt what an earlier version stored in clear.
 *
 * @module
 */

import type { Deps } from "./deps.ts";

/** Runs before requests and workers; once more changes nothing. */
export type Sealer = (deps: Pick<Deps, "db" | "secrets" | "log">) => void | Promise<void>;
