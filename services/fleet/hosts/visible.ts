/** Hosts of this hub that a caller sees. Everything that shows or changes hosts reads them here. @module */

import { selectFleetHosts, type StoredHost } from "../../../db/fleet_hosts.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";

/** A caller, as far as it decides which hosts they see. */
export type HostViewer = Pick<Caller, "scope" | "rights">;

/** The hosts that the caller sees, by name. */
export const visibleHosts = ({ db }: Pick<Deps, "db">, _viewer: HostViewer): StoredHost[] =>
  selectFleetHosts(db);
