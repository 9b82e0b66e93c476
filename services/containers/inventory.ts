/**
 * The last known state of the containers, in memory: every list, stream frame, export and rule reads
 * it. `containers/watcher.ts` keeps it up to date. While it cannot, the snapshot is not `live`,
 * and readers query the engine themselves.
 *
 * @module
 */

import type { Scope } from "../access/scope.ts";
import { createTemporaryNames, type TemporaryNames } from "./temporary_names.ts";

export const CONTAINER_STATES = [
  "created",
  "running",
  "paused",
  "restarting",
  "removing",
  "exited",
  "dead",
] as const;
export type ContainerState = (typeof CONTAINER_STATES)[number];

export type ContainerHealth = "starting" | "healthy" | "unhealthy";

/** A published or exposed port. */
export interface ContainerPort {
  ip: string | null;
  privatePort: number;
  publicPort: number | null;
  type: string;
}

/** A container's attachment to one network. */
interface NetworkAttachment {
  networkId: string;
  network: string;
  /** Empty while the container does not run. */
  ipv4: string;
  ipv6: string;
  mac: string;
}

/** Fields that only the details of a container show. Times are ISO 8601, UTC. */
export interface ContainerDetails {
  command: string[];
  entrypoint: string[];
  workingDir: string;
  user: string;
  /** May contain passwords: only an admin sees the values. */
  env: { name: string; value: string }[];
  mounts: {
    type: string;
    /** Of a volume. */
    name: string | null;
    source: string;
    destination: string;
    readOnly: boolean;
  }[];
  networkSettings: {
    name: string;
    networkId: string;
    ipv4: string;
    ipv6: string;
    gateway: string;
    mac: string;
    aliases: string[];
  }[];
  /** The name is empty if none was given, which means `no`. */
  restartPolicy: { name: string; maximumRetryCount: number };
  /** Name or number. */
  stopSignal: string;
  /** `null` means unlimited. */
  limits: {
    memoryBytes: number | null;
    /** Memory and swap together. */
    memorySwapBytes: number | null;
    cpus: number | null;
    pids: number | null;
  };
  oomKilled: boolean;
  /** The engine's message if the container could not start. */
  error: string;
  /** The last probes, oldest first. Outdated in a snapshot, because they cause no events. */
  healthLog: {
    startedAt: string | null;
    endedAt: string | null;
    exitCode: number;
    output: string;
  }[];
}

/** One container. Times are ISO 8601, UTC. */
export interface Container {
  id: string;
  /** Without the engine's leading slash. */
  name: string;
  /** Its name; during a replacement that of the container which is replaced. */
  originalName: string;
  image: string;
  imageId: string;
  state: ContainerState;
  /** `null` for a container without a health check. */
  health: ContainerHealth | null;
  createdAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  /** Of the last run; `null` before it ended. */
  exitCode: number | null;
  restartCount: number;
  ports: ContainerPort[];
  labels: Record<string, string>;
  composeProject: string | null;
  composeService: string | null;
  attachments: NetworkAttachment[];
  /** Ids or names of the containers whose namespaces it shares. */
  shares: readonly string[];
  /** Names of the containers that it is linked to. */
  links: readonly string[];
  /** Names of the volumes it mounts. */
  volumes: string[];
  /** Whether it is the container that this service runs in. */
  self: boolean;
  /** Why it is not known in full; `null` for nearly all. */
  warning: string | null;
  details: ContainerDetails;
}

/** A stop of a container that an action of this service causes. */
export interface ExpectedDown {
  /** The action has finished: a stop is expected only for a few more seconds. */
  settle(): void;
  /** The action does not stop the container: a stop is unexpected again. */
  withdraw(): void;
}

/** Whether the inventory can be kept up to date. Times are ISO 8601, UTC. */
export interface InventoryStatus {
  /** `failing` from a failed listing until the next complete one. */
  status: "ok" | "failing";
  lastError: string | null;
  lastErrorAt: string | null;
  /** Whether the engine responds to other calls while it is failing. */
  isUnreadable: boolean;
}

export interface Inventory {
  /** Set if the inventory has only the containers that an API token may access. */
  readonly scope?: Scope;
  /** Whether the snapshot is complete and kept up to date. Otherwise it must not be served. */
  readonly live: boolean;
  /** Increases with every change, including one of `live`. */
  readonly revision: number;
  /** Containers with temporary names. */
  readonly temporary: TemporaryNames;
  /** All containers, newest first. */
  list(): readonly Container[];
  get(id: string): Container | undefined;
  /**
   * Returns the containers as of the last moment at which the snapshot was live; none before the
   * first one. Use it to detect changes.
   */
  listFollowed(): readonly Container[];
  /** Returns a sequence number for a read from the engine. Call it *before* reading. */
  readNumber(): number;
  /**
   * Stores a container. A read that is older than the stored state, or than the container's removal,
   * is dropped, because two reads may return in either order.
   *
   * @returns The previous state; `undefined` if the container is new or the read was dropped.
   */
  put(container: Container, readNumber: number): Container | undefined;
  /** Removes a container. */
  remove(id: string, readNumber: number): void;
  /** Replaces everything with a complete listing, whose read has the number `readNumber`. */
  replaceAll(containers: readonly Container[], readNumber: number): void;
  setLive(live: boolean): void;
  /** Records that the containers cannot be listed, until the snapshot is live again. */
  recordFailure(error: string, options?: { isUnreadable?: boolean }): void;
  status(): InventoryStatus;
  /** Runs a listing, or waits for the one in progress. */
  shareListing(list: () => Promise<readonly Container[]>): Promise<readonly Container[]>;
  /**
   * Announces that an action of this service will stop the container, so that the stop does not
   * cause an event.
   */
  expectDown(id: string): ExpectedDown;
  /** Whether a stop of the container is expected. */
  isDownExpected(id: string): boolean;
  /** Whether a stop of the container was expected. Uses up the expectation. */
  takeExpectedDown(id: string): boolean;
}

/** Maximum delay of the engine's events after the response to an action, in milliseconds. */
const ACTION_ECHO_MS = 5_000;

export function createInventory(
  now: () => Date,
  temporary: TemporaryNames = createTemporaryNames(),
): Inventory {
  const containers = new Map<string, Container>();
  // The read that each container's state, or its removal, comes from.
  const readNumbers = new Map<string, number>();
  const expectedDowns = new Map<string, { until: number }[]>();
  // When the engine's events were lost; those of that time are read when they are back.
  let lostAt = Infinity;
  let live = false;
  let revision = 0;
  let reads = 0;
  let sorted: readonly Container[] | undefined;
  let listing: Promise<readonly Container[]> | undefined;
  let followed: readonly Container[] = [];
  let status: InventoryStatus = {
    status: "ok",
    lastError: null,
    lastErrorAt: null,
    isUnreadable: false,
  };

  const changed = () => {
    revision++;
    sorted = undefined;
  };
  const list = () => sorted ??= [...containers.values()].sort(newestFirst);
  const openDowns = (id: string) => {
    const after = Math.min(now().getTime(), lostAt);
    return (expectedDowns.get(id) ?? []).filter(({ until }) => until > after);
  };
  const keepDowns = (id: string, open: { until: number }[]) => {
    if (open.length) expectedDowns.set(id, open);
    else expectedDowns.delete(id);
  };
  const dropEnded = () => {
    for (const id of [...expectedDowns.keys()]) keepDowns(id, openDowns(id));
  };
  const extendSettled = () => {
    for (const down of [...expectedDowns.values()].flat()) {
      if (down.until !== Infinity) down.until = now().getTime() + ACTION_ECHO_MS;
    }
  };
  const isLate = (id: string, readNumber: number) => readNumber < (readNumbers.get(id) ?? 0);

  return {
    get live() {
      return live;
    },
    get revision() {
      return revision;
    },
    temporary,
    list,
    shareListing: (list) => listing ??= list().finally(() => listing = undefined),
    get: (id) => containers.get(id),
    listFollowed: () => live ? list() : followed,
    readNumber: () => ++reads,

    put(container, readNumber) {
      const before = containers.get(container.id);
      if (isLate(container.id, readNumber)) return undefined;
      containers.set(container.id, container);
      readNumbers.set(container.id, readNumber);
      changed();
      return before;
    },

    remove(id, readNumber) {
      if (isLate(id, readNumber)) return;
      readNumbers.set(id, readNumber);
      if (containers.delete(id)) changed();
    },

    replaceAll(listed, readNumber) {
      const listedIds = new Set(listed.map(({ id }) => id));
      for (const id of [...containers.keys()]) {
        if (!listedIds.has(id) && !isLate(id, readNumber)) containers.delete(id);
      }
      for (const container of listed) {
        if (isLate(container.id, readNumber)) continue;
        containers.set(container.id, container);
        readNumbers.set(container.id, readNumber);
      }
      // Numbers of removed containers are no longer needed.
      for (const id of [...readNumbers.keys()]) if (!containers.has(id)) readNumbers.delete(id);
      changed();
    },

    setLive(value) {
      if (value) status = { ...status, status: "ok", isUnreadable: false };
      if (value === live) return;
      if (live) followed = list();
      live = value;
      dropEnded();
      if (value) extendSettled();
      lostAt = value ? Infinity : now().getTime();
      changed();
    },

    recordFailure(lastError, { isUnreadable = false } = {}) {
      status = { status: "failing", lastError, lastErrorAt: now().toISOString(), isUnreadable };
    },
    status: () => status,

    expectDown(id) {
      const expectation = { until: Infinity };
      expectedDowns.set(id, [...openDowns(id), expectation]);
      return {
        settle() {
          expectation.until = now().getTime() + ACTION_ECHO_MS;
          dropEnded();
        },
        withdraw() {
          expectation.until = -Infinity;
          dropEnded();
        },
      };
    },

    isDownExpected: (id) => openDowns(id).length > 0,

    takeExpectedDown(id) {
      const open = openDowns(id);
      const taken = open.shift();
      keepDowns(id, open);
      return taken !== undefined;
    },
  };
}

function newestFirst(a: Container, b: Container): number {
  const [left, right] = [a.createdAt ?? "", b.createdAt ?? ""];
  if (left !== right) return left < right ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}
