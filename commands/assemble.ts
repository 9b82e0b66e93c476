/** Builds the parts of the service. @module */

import type { MetricsDatabase, StateDatabase } from "../db/database.ts";
import type { Engine } from "../engine/client.ts";
import { createAlertMemory } from "../services/alerts/memory.ts";
import { createActiveJobs } from "../services/jobs/active_jobs.ts";
import { createBrokenCalls } from "../services/jobs/broken_calls.ts";
import { createAccounts } from "../services/access/accounts.ts";
import { createCurrentAccessPolicy } from "../services/access/current_policy.ts";
import { createAnonymousLog } from "../services/access/anonymous_log.ts";
import { createChanges } from "../services/stream/changes.ts";
import { createBrandCache } from "../services/access/brand_cache.ts";
import { createOidcCache } from "../services/access/oidc/cache.ts";
import { createGroupRoles } from "../services/access/oidc/group_roles.ts";
import { createSignInProviders } from "../services/access/sign_in/providers.ts";
import { createComplianceState } from "../services/access/audit/compliance_state.ts";
import { storedEnd, storedTrialStart } from "../services/access/license/licenses.ts";
import { createLogStreams } from "../services/logs/follow/streams.ts";
import { loadMaintenance } from "../services/automation/maintenance/mode.ts";
import { loadMaintenanceWindows } from "../services/automation/maintenance/windows.ts";
import { createSilencer } from "../services/alerts/silences/silencer.ts";
import type { Config } from "../services/config/config.ts";
import type { Deps } from "../services/deps.ts";
import {
  accessPolicySource,
  adapters,
  channels,
  counts,
  monitorProbes,
  recorders,
} from "../services/editions.ts";
import { createEventBus } from "../services/events/events.ts";
import { createOutgoing } from "../services/fleet/events/outgoing.ts";
import { createFleet } from "../services/fleet/hosts/fleet.ts";
import { createHostCache } from "../services/metrics/host/cache.ts";
import { createInventory } from "../services/containers/inventory.ts";
import { createTemporaryNames } from "../services/containers/temporary_names.ts";
import { createLicense } from "../services/access/license/license.ts";
import { createMaintenance } from "../services/automation/maintenance/maintenance.ts";
import { createMonitorResults } from "../services/stream/monitor_results.ts";
import type { Log } from "../services/log.ts";
import { createDeniedReads } from "../services/access/audit/denied_reads.ts";
import { createSetupCode } from "../services/access/setup/code.ts";
import { CODE_LIMITS, createLoginThrottle } from "../services/access/sign_in/login_throttle.ts";
import { CHALLENGE_MS } from "../services/access/factors/challenges.ts";
import { SECOND_STEP_MS } from "../services/access/sign_in/open_login.ts";
import {
  composeWorkerScript,
  createComposeLoader,
  startWorker,
} from "../services/compose/loader.ts";
import { createPasswords } from "../services/access/passwords/passwords.ts";
import { createEngineStatusReader } from "../services/containers/engine_status.ts";
import { createLimiters } from "../services/access/limiters.ts";
import { createOutboxSignal } from "../services/events/outbox_signal.ts";
import { createRunningPolls } from "../services/automation/integrations/running_polls.ts";
import type { Secrets } from "../services/secrets/secrets.ts";
import type { SelfHint } from "../services/containers/self_container.ts";
import { serverIdentity } from "../services/events/server_identity.ts";
import { createRepositoryOpener } from "../services/backup/restic/worker_repository.ts";
import { createSnapshotFiles } from "../services/backup/storages/snapshot_files.ts";
import { createDiskUsageCache } from "../services/storage/disk_usage_cache.ts";
import { createRegistrySessions } from "../services/images/registries/sessions.ts";
import { createReservations } from "../services/containers/reservations.ts";
import { createEventStream } from "../services/containers/event_stream.ts";
import { createSnapshotCache } from "../services/events/snapshot_cache.ts";
import { createStatsCache } from "../services/containers/stats_cache.ts";
import { createStreamHub } from "../services/stream/hub.ts";
import { startRepositoryWorker } from "../services/git/fetch/worker_script.ts";
import { createGitRounds } from "../services/git/rounds.ts";
import { createTakeoverScans } from "../services/takeover/scans.ts";
import { createTickets } from "../services/stream/tickets.ts";
import { createUpdateGate } from "../services/fleet/waves/gate.ts";
import { createPassing } from "../services/fleet/passing/installation.ts";
import { createSwarmManager } from "../services/swarm/manager.ts";
import { createTerminals } from "../services/containers/terminal/terminals.ts";
import { createVitals } from "../services/metrics/vitals.ts";

/** The parts that depend on the environment; all others are built from them. */
interface Parts {
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
  const { config, db, engine, log, now } = parts;
  const license = createLicense(now, storedTrialStart(db), storedEnd(parts));
  const accounts = createAccounts(db, config, now, log);
  const stream = createStreamHub({ now, clientsMax: config.maxSseClients });
  accounts.subscribe(stream.endUnauthorized);
  const inventory = createInventory(now, createTemporaryNames(db));
  const fleet = createFleet(db);
  const reservations = createReservations();
  const limiters = createLimiters();
  const logStreams = createLogStreams({ engine, inventory, limiters, now });
  accounts.subscribe(logStreams.endUnauthorized);
  const maintenance = createMaintenance(now, {
    state: loadMaintenance(db),
    windows: loadMaintenanceWindows(db),
  });
  const eventStream = createEventStream(now);
  const deps: Deps = {
    ...parts,
    server: serverIdentity(db, config),
    inventory,
    reservations,
    jobs: createActiveJobs({ followersMax: config.maxSseClients }),
    brokenCalls: createBrokenCalls(eventStream),
    diskUsage: createDiskUsageCache(engine, now),
    openRepository: createRepositoryOpener(),
    snapshotFiles: createSnapshotFiles(),
    registrySessions: createRegistrySessions(now),
    swarm: createSwarmManager(engine, now),
    passing: createPassing({ ...parts, accounts, fleet }),
    eventStream,
    stats: createStatsCache(now),
    host: createHostCache(),
    changes: createChanges(),
    monitorResults: createMonitorResults(now),
    crashLines: new Map(),
    paces: new Map(),
    decisions: new WeakMap(),
    alerts: createAlertMemory(),
    accounts,
    accessPolicy: () => policy(),
    passwords: createPasswords(),
    composeLoader: createComposeLoader(async () => await startWorker(await composeWorkerScript())),
    takeover: createTakeoverScans(),
    git: createGitRounds(startRepositoryWorker),
    limiters,
    engineStatus: createEngineStatusReader(engine, now),
    anonymousLog: createAnonymousLog(parts.log, now),
    deniedReads: createDeniedReads(now),
    setupCode: createSetupCode(now),
    throttle: createLoginThrottle(now),
    codeThrottle: createLoginThrottle(now, CODE_LIMITS),
    stream,
    logStreams,
    tickets: createTickets(now, (session) => session),
    terminals: createTerminals(),
    terminalTickets: createTickets(now, (holder) => holder),
    license,
    brand: createBrandCache(license),
    signInProviders: createSignInProviders(license),
    oidc: createOidcCache(),
    groupRoles: createGroupRoles(license),
    completedLogins: createTickets(now),
    pendingLogins: createTickets(now, undefined, SECOND_STEP_MS),
    passkeyChallenges: createTickets(now, undefined, CHALLENGE_MS),
    compliance: createComplianceState(db),
    counts,
    events: createEventBus(),
    recorders,
    silencer: createSilencer({ db, inventory, maintenance, now }),
    adapters,
    polls: createRunningPolls(now),
    checks: createRunningPolls(now),
    monitorProbes,
    statusPages: createSnapshotCache(),
    outbox: createOutboxSignal(),
    channels,
    maintenance,
    updateGate: createUpdateGate({ db, fleet }),
    fleet,
    outgoing: createOutgoing({ db, fleet, inventory, now, reservations }),
    vitals: createVitals(),
    workers: new Map(),
    startedAt: now(),
  };
  const policy = createCurrentAccessPolicy(deps, accessPolicySource);
  return deps;
}
