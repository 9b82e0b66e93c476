import type { Deps } from "../deps.ts";
import type { Observation } from "../guard.ts";
export function recordObservation(_deps: Deps, _observation: Observation): void | Promise<void> {}
