/**
 * The containers as the engine last told of them, in memory: what every list, frame, export and
 * rule reads. `ce/workers/container_watcher.ts` keeps it; a snapshot that nobody keeps is not
 * `live`, and readers then ask the engine themselves.
 *
 * @module
 */

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

/** A container's place in one network. */
export interface NetworkAttachment {
  networkId: string;
  network: string;
  /** Empty while the container does not run. */
  ipv4: string;
  ipv6: string;
  mac: string;
}

/** What only the detail of a container shows. Times are ISO 8601, UTC. */
export interface ContainerDetails {
  command: string[];
  entrypoint: string[];
  workingDir: string;
  user: string;
  /** Passwords live here: only an admin sees the values. */
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
  restartPolicy: { name: string; maximumRetryCount: number };
  /** `null` is no limit. */
  limits: { memoryBytes: number | null; cpus: number | null; pids: number | null };
  oomKilled: boolean;
  /** What the engine said when it could not start. */
  error: string;
  /** The last probes, oldest first. They pass without an event: in a snapshot they are old. */
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
  image: string;
  imageId: string;
  state: ContainerState;
  /** `null` for a container without a health check. */
  health: ContainerHealth | null;
  createdAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  /** Of the last run; `null` before its end. */
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
  details: ContainerDetails;
}

/** An end of a container that an action of this service is about to bring about. */
export interface ExpectedDown {
  /** The action has ended: an end of the container is soon no longer expected. */
  settle(): void;
  /** The action does not take the container down: an end is its own doing. */
  withdraw(): void;
}

export interface Inventory {
  /** Whether the snapshot is complete and followed: only then it may be served as the truth. */
  readonly live: boolean;
  /** Rises with every change, also with one of `live`. */
  readonly revision: number;
  /** All containers, newest first. */
  list(): readonly Container[];
  get(id: string): Container | undefined;
  /**
   * All as of the last moment at which the snapshot was live, none before the first one: what is
   * read while it is not live tells nobody what has changed.
   */
  listFollowed(): readonly Container[];
  /** Takes the number that orders what is read from the engine: ask for it *before* reading. */
  readNumber(): number;
  /**
   * Stores what was read. What was read earlier than the stored state of that container, or than
   * its removal, is dropped: two reads of one container may come back in either order.
   *
   * @returns The state before, or `undefined` when the container is new or the read came late.
   */
  put(container: Container, readNumber: number): Container | undefined;
  /** Forgets a container that is gone. */
  remove(id: string, readNumber: number): void;
  /** Replaces everything by a complete listing that was begun with `readNumber`. */
  replaceAll(containers: readonly Container[], readNumber: number): void;
  setLive(live: boolean): void;
  /**
   * Says that an action of this service is about to take the container down, which then is no
   * event.
   */
  expectDown(id: string): ExpectedDown;
  /** Whether the container's end was expected; an expectation excuses one end only. */
  takeExpectedDown(id: string): boolean;
}

/** The engine's events of an action may come this much later than its answer, in milliseconds. */
const ACTION_ECHO_MS = 5_000;

export function createInventory(now: () => Date): Inventory {
  const containers = new Map<string, Container>();
  // The number of the read that each container's state, or its absence, comes from.
  const readNumbers = new Map<string, number>();
  const expectedDowns = new Map<string, { until: number }[]>();
  let live = false;
  let revision = 0;
  let reads = 0;
  let sorted: readonly Container[] | undefined;
  let followed: readonly Container[] = [];

  const changed = () => {
    revision++;
    sorted = undefined;
  };
  const list = () => sorted ??= [...containers.values()].sort(newestFirst);
  const dropEnded = () => {
    for (const [id, list] of expectedDowns) {
      const open = list.filter(({ until }) => until > now().getTime());
      if (open.length) expectedDowns.set(id, open);
      else expectedDowns.delete(id);
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
    list,
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
      // Numbers of containers that are long gone are no longer needed.
      for (const id of [...readNumbers.keys()]) if (!containers.has(id)) readNumbers.delete(id);
      changed();
    },

    setLive(value) {
      if (value === live) return;
      if (live) followed = list();
      live = value;
      changed();
    },

    expectDown(id) {
      const expectation = { until: Infinity };
      expectedDowns.set(id, [...(expectedDowns.get(id) ?? []), expectation]);
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

    takeExpectedDown(id) {
      const open = (expectedDowns.get(id) ?? []).filter(({ until }) => until > now().getTime());
      const taken = open.shift();
      if (open.length) expectedDowns.set(id, open);
      else expectedDowns.delete(id);
      return taken !== undefined;
    },
  };
}

function newestFirst(a: Container, b: Container): number {
  const [left, right] = [a.createdAt ?? "", b.createdAt ?? ""];
  if (left !== right) return left < right ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}
