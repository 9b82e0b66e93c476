/** State of the swarm as the watcher last reported it, stored so that a restart repeats no event. @module */

import { selectSetting, upsertSetting } from "../../db/settings.ts";
import type { Deps } from "../deps.ts";

/** Times are ISO 8601, UTC. */
export interface WatchedState {
  /** Degraded services by id. */
  degraded: Record<string, { service: string; stack: string | null; since: string }>;
  /** Nodes that are down, by id. */
  down: Record<string, { node: string; since: string }>;
  /** The last rollbacks that Swarm made, by the service's id: when the update began. */
  rolledBack: Record<string, string>;
}

const NAME = "swarm_watched";

/** `undefined` before the first round. */
export function readWatched({ db }: Pick<Deps, "db">): WatchedState | undefined {
  const text = selectSetting(db, NAME);
  return text === undefined ? undefined : JSON.parse(text);
}

export const storeWatched = ({ db }: Pick<Deps, "db">, state: WatchedState): void =>
  upsertSetting(db, NAME, JSON.stringify(state));
