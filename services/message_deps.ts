/**
 * The parts of the service that recorders and channels of the outbox use. Apart from `deps.ts`, which
 * lists recorders and channels themselves.
 *
 * @module
 */

import type { StateDatabase } from "../db/database.ts";
import type { BrandCache } from "./access/brand_cache.ts";
import type { CurrentAccessPolicy } from "./access/policy.ts";
import type { Maintenance } from "./automation/maintenance/maintenance.ts";
import type { Config } from "./config/config.ts";
import type { CrashLines } from "./containers/crash_lines.ts";
import type { Inventory } from "./containers/inventory.ts";
import type { Reservations } from "./containers/reservations.ts";
import type { NotificationDecisions } from "./events/decisions.ts";
import type { OutboxSignal } from "./events/outbox_signal.ts";
import type { Paces } from "./events/paces.ts";
import type { SnapshotCache } from "./events/snapshot_cache.ts";
import type { Log } from "./log.ts";
import type { Secrets } from "./secrets/secrets.ts";

/** Dependencies of a recorder that stores messages. */
export interface RecorderDeps {
  db: StateDatabase;
  config: Config;
  crashLines: CrashLines;
  decisions: NotificationDecisions;
  inventory: Inventory;
  maintenance: Maintenance;
  /** Notified by `enqueueMessage()`. */
  outbox: OutboxSignal;
  reservations: Reservations;
  statusPages: SnapshotCache;
  log: Log;
  now: () => Date;
}

/** Dependencies of a channel that sends. */
export interface ChannelDeps {
  accessPolicy: CurrentAccessPolicy;
  brand: BrandCache;
  db: StateDatabase;
  config: Config;
  secrets: Secrets;
  log: Log;
  now: () => Date;
  paces: Paces;
}

/** Dependencies of a channel that queues messages. */
export interface CollectDeps extends ChannelDeps {
  crashLines: CrashLines;
  inventory: Inventory;
  outbox: OutboxSignal;
}
