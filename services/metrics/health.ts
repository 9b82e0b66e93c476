/** The health of the service itself. @module */

import { selectDataVersion } from "../../db/data_version.ts";
import type { Database } from "../../db/database.ts";
import type { Deps } from "../deps.ts";
import type { Edition } from "../edition.ts";
import { outboxDepth } from "../events/outbox.ts";
import { protectionWarning } from "../access/license/protection.ts";
import { VERSION } from "../version.ts";
import type { WorkerState } from "../deps.ts";
import type { EventStreamStatus } from "../containers/event_stream.ts";
import type { EngineStatus } from "../containers/engine_status.ts";
import type { InventoryStatus } from "../containers/inventory.ts";

type DatabaseStatus = "ok" | "failed";

type OwnContainer = "none" | "known" | "unknown";

interface Health {
  /** `degraded` when any part below has failed. */
  status: "ok" | "degraded";
  version: string;
  startedAt: string;
  uptimeSeconds: number;
  engine: EngineStatus;
  /** `failing` while the connection to the engine's event stream keeps breaking. */
  eventStream: EventStreamStatus;
  /** `failing` while the containers cannot be listed, so that they may be outdated. */
  inventory: InventoryStatus;
  /**
   * `none`: the service does not run in a container. `unknown`: it does, but cannot identify the
   * container, which is therefore not protected from actions.
   */
  ownContainer: OwnContainer;
  databases: { state: DatabaseStatus; metrics: DatabaseStatus };
  /** `failing` from a failure until the next successful round. */
  workers: (WorkerState & { status: "ok" | "failing" })[];
  /** Messages waiting for delivery; `null` while the database fails. */
  outboxDepth: number | null;
  license: {
    edition: Edition;
    expiresAt: string | null;
    graceUntil: string | null;
    problem: string | null;
    /** See `EditionInfo`. */
    protectedUntil: string | null;
    warning: string | null;
  };
}

/** Collects the state of every part. Waits for nothing slow. */
export async function describeHealth(
  deps: Pick<
    Deps,
    | "db"
    | "metrics"
    | "engineStatus"
    | "eventStream"
    | "inventory"
    | "self"
    | "workers"
    | "license"
    | "now"
    | "startedAt"
  >,
): Promise<Health> {
  const { license, now, startedAt } = deps;
  const protectedUntil = license.protectedUntil();
  const engine = await deps.engineStatus.read();
  const databases = databaseStatuses(deps);
  const workers = [...deps.workers.values()]
    .map((state) => ({ ...state, status: isFailing(state) ? "failing" as const : "ok" as const }));
  const eventStream = deps.eventStream.status();
  const inventory = deps.inventory.status();
  const isHealthy = engine.reachable && eventStream.status === "ok" &&
    inventory.status === "ok" && databases.state === "ok" && databases.metrics === "ok" &&
    workers.every(({ status }) => status === "ok");
  return {
    status: isHealthy ? "ok" : "degraded",
    version: VERSION,
    startedAt: startedAt.toISOString(),
    uptimeSeconds: Math.floor((now().getTime() - startedAt.getTime()) / 1000),
    engine,
    eventStream,
    inventory,
    ownContainer: ownContainer(deps),
    databases,
    workers,
    outboxDepth: databases.state === "ok" ? outboxDepth(deps) : null,
    license: {
      edition: license.edition,
      expiresAt: license.expiresAt,
      graceUntil: license.graceUntil,
      problem: license.problem,
      protectedUntil: protectedUntil?.toISOString() ?? null,
      warning: protectionWarning(protectedUntil),
    },
  };
}

/** Whether requests can be served. Many endpoints work without the engine, so it is not checked. */
export function isReady(deps: Pick<Deps, "db" | "metrics">): boolean {
  const { state, metrics } = databaseStatuses(deps);
  return state === "ok" && metrics === "ok";
}

function ownContainer({ self, inventory }: Pick<Deps, "self" | "inventory">): OwnContainer {
  if (self.id !== null || inventory.list().some((container) => container.self)) return "known";
  return self.isContainerized ? "unknown" : "none";
}

function databaseStatuses({ db, metrics }: Pick<Deps, "db" | "metrics">): Health["databases"] {
  return { state: databaseStatus(db), metrics: databaseStatus(metrics) };
}

/** Reads from the database, which fails if the file is missing or its header is damaged. */
function databaseStatus(db: Database): DatabaseStatus {
  try {
    selectDataVersion(db);
    return "ok";
  } catch {
    return "failed";
  }
}

/** Whether a worker failed and has not completed a round since. */
export function isFailing({ lastErrorAt, lastRoundAt }: WorkerState): boolean {
  return lastErrorAt !== null && (lastRoundAt === null || lastRoundAt <= lastErrorAt);
}
