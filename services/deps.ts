/**
 * The parts of the service. `assemble()` in `commands/assemble.ts` builds them once, from top to
 * bottom; a test builds its own (`tests/helpers/test_app.ts`).
 *
 * A function takes only what it uses: `Pick<Deps, "db" | "now">` says that it uses the database and
 * the clock, but not the container engine.
 *
 * @module
 */

import type { MetricsDatabase, StateDatabase } from "../db/database.ts";
import type { Engine } from "../engine/client.ts";
import type { PasskeyChallenge } from "./access/factors/challenges.ts";
import type { CompletedLogin, PendingLogin } from "./access/sign_in/open_login.ts";
import type { TerminalHolder } from "./access/caller.ts";
import type { Accounts, TicketGrant } from "./access/accounts.ts";
import type { Changes } from "./stream/changes.ts";
import type { CrashLines } from "./containers/crash_lines.ts";
import type { Paces } from "./events/paces.ts";
import type { AlertMemory } from "./alerts/memory.ts";
import type { ActiveJobs } from "./jobs/active_jobs.ts";
import type { BrokenCalls } from "./jobs/broken_calls.ts";
import type { BrandCache } from "./access/brand_cache.ts";
import type { CurrentAccessPolicy } from "./access/policy.ts";
import type { OidcCache } from "./access/oidc/cache.ts";
import type { GroupRoles } from "./access/oidc/group_roles.ts";
import type { SignInProviders } from "./access/sign_in/providers.ts";
import type { ComplianceState } from "./access/audit/compliance_state.ts";
import type { ComposeLoader } from "./compose/loader.ts";
import type { Config } from "./config/config.ts";
import type { EventBus } from "./events/events.ts";
import type { OutgoingQueue } from "./events/outgoing.ts";
import type { Fleet } from "./fleet/hosts/fleet.ts";
import type { HostCache } from "./metrics/host/cache.ts";
import type { Adapter } from "./automation/integrations/adapter.ts";
import type { Inventory } from "./containers/inventory.ts";
import type { License } from "./access/license/license.ts";
import type { RecordCounts } from "./access/license/limits.ts";
import type { Log } from "./log.ts";
import type { LogStreams } from "./logs/open_streams.ts";
import type { EngineStatusReader } from "./containers/engine_status.ts";
import type { Limiters } from "./access/limiters.ts";
import type { UpdateGate } from "./updates/gate.ts";
import type { MonitorProbes } from "./updates/monitor_probes.ts";
import type { MonitorResults } from "./stream/monitor_results.ts";
import type { Maintenance } from "./automation/maintenance/maintenance.ts";
import type { NotificationDecisions } from "./events/decisions.ts";
import type { Passwords } from "./access/passwords/passwords.ts";
import type { OutboxSignal } from "./events/outbox_signal.ts";
import type { OutboxChannel } from "./events/outbox_channel.ts";
import type { Recorder, Silencer } from "./events/recorder.ts";
import type { RunningPolls } from "./automation/integrations/running_polls.ts";
import type { SelfHint } from "./containers/self_container.ts";
import type { AnonymousLog } from "./access/anonymous_log.ts";
import type { DeniedReads } from "./access/audit/denied_reads.ts";
import type { SetupCode } from "./access/setup/code.ts";
import type { LoginThrottle } from "./access/sign_in/login_throttle.ts";
import type { Secrets } from "./secrets/secrets.ts";
import type { ServerIdentity } from "./events/server_identity.ts";
import type { StatsCache } from "./containers/stats_cache.ts";
import type { StreamHub } from "./stream/hub.ts";
import type { Tickets } from "./stream/tickets.ts";
import type { Reservations } from "./containers/reservations.ts";
import type { RegistrySessions } from "./images/registries/sessions.ts";
import type { DiskUsageCache } from "./storage/disk_usage_cache.ts";
import type { EventStream } from "./containers/event_stream.ts";
import type { GitRounds } from "./git/rounds.ts";
import type { TakeoverScans } from "./takeover/scans.ts";
import type { Terminals } from "./containers/terminal/terminals.ts";
import type { Passing } from "./fleet/passing/sides.ts";
import type { SwarmManager } from "./swarm/manager.ts";
import type { Vitals } from "./metrics/vitals.ts";
import type { OpenRepository } from "./backup/restic/worker_repository.ts";
import type { SnapshotFiles } from "./backup/storages/snapshot_files.ts";
import type { SnapshotCache } from "./events/snapshot_cache.ts";

export interface Deps {
  config: Config;
  /** Records that users entered or must be able to rely on. */
  db: StateDatabase;
  /** Samples and check results, which may be lost without harm. */
  metrics: MetricsDatabase;
  engine: Engine;
  /** The last known state of the containers. */
  inventory: Inventory;
  /** Identifies this server in every event. */
  server: ServerIdentity;
  /** Containers with a running action. */
  reservations: Reservations;
  /** Queued and running jobs. */
  jobs: ActiveJobs;
  /** Calls to the engine that broke; each job has its own. */
  brokenCalls: BrokenCalls;
  /** The engine's disk usage, computed on demand. */
  diskUsage: DiskUsageCache;
  /** Opens the repository of a backup target, whose work must not block this thread. */
  openRepository: OpenRepository;
  /** Files of backup targets that lists of snapshots need. */
  snapshotFiles: SnapshotFiles;
  /** Sessions at image registries: tokens, limits and authentication schemes. */
  registrySessions: RegistrySessions;
  /** Whether the engine manages a swarm. */
  swarm: SwarmManager;
  /** Requests that this installation passes on as a hub, or gets as a member. */
  passing: Passing;
  /** Whether the engine's events can be read. */
  eventStream: EventStream;
  /** Identity of the service's own container. */
  self: SelfHint;
  /** The last stats of each container. */
  stats: StatsCache;
  /** The last sample of the host itself. */
  host: HostCache;
  /** Changed resources, for the clients of `GET /api/stream`. */
  changes: Changes;
  /** The last results of uptime monitors, for the same clients. */
  monitorResults: MonitorResults;
  /** The last log lines of containers that crashed, for messages. */
  crashLines: CrashLines;
  paces: Paces;
  /** Decisions about the messages of an event, until its transaction ends. */
  decisions: NotificationDecisions;
  /** Memory of the alert evaluator. */
  alerts: AlertMemory;
  /** Users, their roles and revoked sessions, in memory for the check of every request. */
  accounts: Accounts;
  /** Checks of requests and rights beyond roles, if the edition has them. */
  accessPolicy: CurrentAccessPolicy;
  passwords: Passwords;
  /** Loads Compose files. */
  composeLoader: ComposeLoader;
  /** Stacks of other programs, as the last scan found them. */
  takeover: TakeoverScans;
  /** Fetches of Git repositories. */
  git: GitRounds;
  /** Limits of expensive requests. */
  limiters: Limiters;
  /** The engine's version and reachability, from memory. */
  engineStatus: EngineStatusReader;
  /** Warnings that clients without an account cause. */
  anonymousLog: AnonymousLog;
  /** Denied reads of API tokens in the last hour. */
  deniedReads: DeniedReads;
  /** Proves that a client may set up a new server. */
  setupCode: SetupCode;
  /** Recent failed logins. */
  throttle: LoginThrottle;
  /** Recent wrong codes of second factors, by address and user id. */
  codeThrottle: LoginThrottle;
  /** The clients of `GET /api/stream`. */
  stream: StreamHub;
  /** The clients of log streams. */
  logStreams: LogStreams;
  /** Tickets with which browsers open streams. */
  tickets: Tickets<TicketGrant>;
  /** The open terminals. */
  terminals: Terminals;
  /** Tickets with which clients open a terminal. */
  terminalTickets: Tickets<TerminalHolder>;
  /** The current license. Its edition changes when a license is installed or expires. */
  license: License;
  /** The active branding, if the edition has one. */
  brand: BrandCache;
  /** The identity providers of the sign-in page, if the edition has them. */
  signInProviders: SignInProviders;
  /** Metadata and keys of OpenID Connect providers. */
  oidc: OidcCache;
  /** Custom roles that an identity provider's groups give, if the edition has them. */
  groupRoles: GroupRoles;
  /** Logins that an identity provider has completed, for the sign-in page. */
  completedLogins: Tickets<CompletedLogin>;
  /** Sign-ins that wait for the second factor. */
  pendingLogins: Tickets<PendingLogin>;
  /** Challenges for passkeys. */
  passkeyChallenges: Tickets<PasskeyChallenge>;
  /** Pending entries, verifications and quotas of the compliance log. */
  compliance: ComplianceState;
  /** The keys of this installation, which sign tokens and encrypt stored secrets. */
  secrets: Secrets;
  /** Counts the records that the license limits, in all editions. */
  counts: RecordCounts;
  events: EventBus;
  /** Store messages about an event, inside the transaction of its cause. */
  recorders: readonly Recorder[];
  /** Decides which events cause no messages for now: maintenance and silences. */
  silencer: Silencer;
  /** Wakes the deliverer of these messages. */
  outbox: OutboxSignal;
  /** Send these messages. */
  channels: readonly OutboxChannel[];
  /** The systems that integrations can poll, in all editions. */
  adapters: readonly Adapter[];
  /** Running polls of integrations. */
  polls: RunningPolls;
  /** Running checks of uptime monitors. */
  checks: RunningPolls;
  /** Uptime monitors as part of the verdict about an update. */
  monitorProbes: MonitorProbes;
  /** The public status pages of the Pro edition. */
  statusPages: SnapshotCache;
  maintenance: Maintenance;
  /** Events of this member that its hub has not acknowledged. */
  outgoing: OutgoingQueue;
  /** Decides whether images may be installed automatically, in a fleet. */
  updateGate: UpdateGate;
  /** Links of a fleet: of the hosts of this hub, and to the hub of this member. */
  fleet: Fleet;
  /** Counters of the process itself. */
  vitals: Vitals;
  /** State of each running worker by name. */
  workers: Map<string, WorkerState>;
  log: Log;
  now: () => Date;
  /** When this process started. */
  startedAt: Date;
}

/** The end of the last round, and the last failure. Times are ISO 8601, UTC. */
export interface WorkerState {
  name: string;
  lastRoundAt: string | null;
  lastError: string | null;
  lastErrorAt: string | null;
}
