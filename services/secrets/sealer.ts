/** Start-up steps that encrypt what an earlier version stored in plain text. @module */

import type { Deps } from "../deps.ts";

/** Runs before requests and workers. Idempotent. */
export type Sealer = (deps: Pick<Deps, "db" | "secrets" | "log">) => void | Promise<void>;
