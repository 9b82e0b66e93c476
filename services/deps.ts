/**
 * What the service is made of. `main.ts` builds it once; a test builds its own.
 *
 * A function asks for no more than it uses:
 * `Pick<Deps, "db" | "now">` says at a glance that it reads the database and the clock and does
 * not touch the container engine.
 *
 * @module
 */

import type { MetricsDatabase, StateDatabase } from "../db/database.ts";
import type { Engine } from "../engine/client.ts";
import type { Accounts } from "./auth/accounts.ts";
import type { BrandCache } from "./state/brand_cache.ts";
import type { ComplianceState } from "./state/compliance_state.ts";
import type { Config } from "./config/config.ts";
import type { EventBus } from "./events/events.ts";
import type { HostCache } from "./state/host_cache.ts";
import type { Adapter } from "./integration/adapter.ts";
import type { Inventory } from "./state/inventory.ts";
import type { License } from "./license/license.ts";
import type { RecordCounts } from "./license/limits.ts";
import type { Log } from "./log.ts";
import type { EngineStatusReader } from "./state/engine_status.ts";
import type { Limiters } from "./state/limiters.ts";
import type { Maintenance } from "./state/maintenance.ts";
import type { Passwords } from "./auth/passwords.ts";
import type { OutboxSignal } from "./events/outbox_signal.ts";
import type { OutboxChannel } from "./events/outbox_channel.ts";
import type { Recorder } from "./events/recorder.ts";
import type { RunningPolls } from "./state/running_polls.ts";
import type { SelfHint } from "./state/self_container.ts";
import type { LoginThrottle } from "./auth/login_throttle.ts";
import type { Secrets } from "./secrets.ts";
import type { ServerIdentity } from "./server_identity.ts";
import type { StatsCache } from "./state/stats_cache.ts";
import type { StreamHub } from "./stream/hub.ts";
import type { StreamTickets } from "./stream/tickets.ts";
import type { Reservations } from "./state/reservations.ts";
import type { DiskUsageCache } from "./state/disk_usage_cache.ts";
import type { EventStream } from "./state/event_stream.ts";
import type { SwarmManager } from "./state/swarm_manager.ts";
import type { Vitals } from "./state/vitals.ts";
import type { SnapshotCache } from "./state/snapshot_cache.ts";
import type { WorkerState } from "./state/worker_state.ts";

export interface Deps {
  config: Config;
  /** What a user told us or must be able to rely on. */
  db: StateDatabase;
  /** Samples and check results; may be lost without harm. */
  metrics: MetricsDatabase;
  engine: Engine;
  /** The containers as the engine last told of them. */
  inventory: Inventory;
  /** Names this server in every event. */
  server: ServerIdentity;
  /** Containers with an action under way. */
  reservations: Reservations;
  /** The engine's disk usage, computed on demand. */
  diskUsage: DiskUsageCache;
  /** Whether the engine manages a swarm. */
  swarm: SwarmManager;
  /** Whether the engine's events can be read. */
  eventStream: EventStream;
  /** What is known of the container that this service itself runs in. */
  self: SelfHint;
  /** The last stats of each container, and who needs new ones. */
  stats: StatsCache;
  /** The last sample of the host itself. */
  host: HostCache;
  /** Users, their roles and what was revoked, in memory for the check of every request. */
  accounts: Accounts;
  passwords: Passwords;
  /** Limits of expensive requests. */
  limiters: Limiters;
  /** The engine's version and reachability, from memory. */
  engineStatus: EngineStatusReader;
  /** Who failed to log in lately. */
  throttle: LoginThrottle;
  /** The clients of `GET /api/stream`. */
  stream: StreamHub;
  /** What a browser brings to `GET /api/stream` instead of a token. */
  tickets: StreamTickets;
  /** The license in force; its edition changes when one is installed or ends. */
  license: License;
  /** How the service looks to people, where an edition gives it a look of its own. */
  brand: BrandCache;
  /** Pending entries, verifications and quotas of the compliance log. */
  compliance: ComplianceState;
  /** The keys of this installation: tokens are signed, stored secrets encrypted with them. */
  secrets: Secrets;
  /** What counts against the limits of the license, in every edition. */
  counts: RecordCounts;
  events: EventBus;
  /** Where events are written down for delivery, inside the transaction of their cause. */
  recorders: readonly Recorder[];
  /** Wakes whoever delivers what recorders wrote down. */
  outbox: OutboxSignal;
  /** How what they wrote down is sent. */
  channels: readonly OutboxChannel[];
  /** The systems that integrations can ask, in every edition. */
  adapters: readonly Adapter[];
  /** The polls of integrations that are under way. */
  polls: RunningPolls;
  /** The checks of uptime monitors that are under way. */
  checks: RunningPolls;
  /** The public status pages of the Pro edition. */
  statusPages: SnapshotCache;
  maintenance: Maintenance;
  /** What the process counts about itself. */
  vitals: Vitals;
  /** State of each running worker by name. */
  workers: Map<string, WorkerState>;
  log: Log;
  now: () => Date;
  /** When this process started. */
  startedAt: Date;
}
