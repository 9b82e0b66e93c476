/**
 * Builds the parts of the service.
 *
 * @module
 */

import type { MetricsDatabase, StateDatabase } from "../db/database.ts";
import type { Engine } from "../engine/client.ts";
import { createAccounts } from "../services/auth/accounts.ts";
import { createBrandCache } from "../services/state/brand_cache.ts";
import { createComplianceState } from "../services/state/compliance_state.ts";
import { storedEnd, storedTrialStart } from "../services/ce/edition/licenses.ts";
import { loadMaintenance } from "../services/ce/maintenance.ts";
import type { Config } from "../services/config/config.ts";
import type { Deps } from "../services/deps.ts";
import { adapters, channels, counts, recorders } from "../services/editions.ts";
import { createEventBus } from "../services/events/events.ts";
import { createHostCache } from "../services/state/host_cache.ts";
import { createInventory } from "../services/state/inventory.ts";
import { createLicense } from "../services/license/license.ts";
import { createMaintenance } from "../services/state/maintenance.ts";
import type { Log } from "../services/log.ts";
import { createLoginThrottle } from "../services/auth/login_throttle.ts";
import { createPasswords } from "../services/auth/passwords.ts";
import { createEngineStatusReader } from "../services/state/engine_status.ts";
import { createLimiters } from "../services/state/limiters.ts";
import { createOutboxSignal } from "../services/events/outbox_signal.ts";
import { createRunningPolls } from "../services/state/running_polls.ts";
import type { Secrets } from "../services/secrets.ts";
import type { SelfHint } from "../services/state/self_container.ts";
import { serverIdentity } from "../services/server_identity.ts";
import { createDiskUsageCache } from "../services/state/disk_usage_cache.ts";
import { createReservations } from "../services/state/reservations.ts";
import { createEventStream } from "../services/state/event_stream.ts";
import { createSnapshotCache } from "../services/state/snapshot_cache.ts";
import { createStatsCache } from "../services/state/stats_cache.ts";
import { createStreamHub } from "../services/stream/hub.ts";
import { createStreamTickets } from "../services/stream/tickets.ts";
import { createSwarmManager } from "../services/state/swarm_manager.ts";
import { createVitals } from "../services/state/vitals.ts";

/** The parts that depend on the environment; all others are built from them. */
export interface Parts {
  config: Config;
  db: StateDatabase;
  metrics: MetricsDatabase;
  engine: Engine;
  secrets: Secrets;
  self: SelfHint;
  log: Log;
  now: () => Date;
}

export function assemble(parts: Parts): Deps {
  const { config, db, engine, now } = parts;
  const license = createLicense(now, storedTrialStart(db), storedEnd(parts));
  return {
    ...parts,
    server: serverIdentity(db, config),
    inventory: createInventory(now),
    reservations: createReservations(),
    diskUsage: createDiskUsageCache(engine, now),
    swarm: createSwarmManager(engine, now),
    eventStream: createEventStream(now),
    stats: createStatsCache(now),
    host: createHostCache(),
    accounts: createAccounts(db, config, now),
    passwords: createPasswords(),
    limiters: createLimiters(),
    engineStatus: createEngineStatusReader(engine, now),
    throttle: createLoginThrottle(now),
    stream: createStreamHub({ now, clientsMax: config.maxSseClients }),
    tickets: createStreamTickets(now),
    license,
    brand: createBrandCache(license),
    compliance: createComplianceState(db),
    counts,
    events: createEventBus(),
    recorders,
    adapters,
    polls: createRunningPolls(now),
    checks: createRunningPolls(now),
    statusPages: createSnapshotCache(),
    outbox: createOutboxSignal(),
    channels,
    maintenance: createMaintenance(now, loadMaintenance(db)),
    vitals: createVitals(),
    workers: new Map(),
    startedAt: now(),
  };
}
