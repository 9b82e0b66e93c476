/**
 * Detects the container that this service runs in, which it never stops, restarts or rebuilds.
 *
 * @module
 */

/** Identity of the service's own container; all `null` outside of containers. */
export interface SelfHint {
  /** Whether the service runs in a container. */
  isContainerized?: boolean;
  /** Whether its absence was reported. */
  isReported?: boolean;
  /** Full id of 64 hex digits. */
  id: string | null;
  /** The host name, if the service runs in a container. */
  hostname: string | null;
}

/** The fields of a container that are compared. */
interface SelfCandidate {
  id: string;
  /** Its configured host name. */
  hostname: string;
  /** E.g. `bridge`, or `host`, in which the host name is the host's. */
  networkMode: string;
}

const FULL_ID = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/;

/** Files that may contain the own container's id, best first. `{proc}` is `/proc` or its mount. */
const ID_SOURCES = [
  "/run/.containerenv", // Podman, when it runs as root
  "{proc}/self/cgroup",
  "{proc}/self/mountinfo", // .../containers/<id>/hostname, also with cgroup v2
];

/** Files that engines create in a container. */
const CONTAINER_MARKS = ["/.dockerenv", "/run/.containerenv"];

/** The control group of a process in a container, if it is visible. */
const CONTAINER_CGROUP = /\/(docker|libpod|cri-containerd)[-/]|\/kubepods/;

/**
 * Finds the service's own container.
 *
 * @param readTextFile Throws if a file is missing or may not be read. There are several sources
 * because the runtime refuses `/proc` to a process with few permissions.
 */
export function findSelf(
  { hostname, procPath, readTextFile }: {
    hostname: string;
    procPath: string | null;
    readTextFile: (path: string) => string;
  },
): SelfHint {
  const read = (path: string): string | undefined => {
    try {
      return readTextFile(path);
    } catch {
      return undefined;
    }
  };
  const inContainer = CONTAINER_MARKS.some((path) => read(path) !== undefined) ||
    CONTAINER_CGROUP.test(read(`${procPath ?? "/proc"}/self/cgroup`) ?? "");
  // Outside of containers the mounts and cgroups contain the ids of other containers.
  if (!inContainer) return { isContainerized: false, id: null, hostname: null };

  for (const source of ID_SOURCES) {
    const id = idIn(read(source.replace("{proc}", procPath ?? "/proc")) ?? "");
    if (id !== undefined) return { isContainerized: true, id, hostname };
  }
  return { isContainerized: true, id: null, hostname };
}

/** In a mount table only the lines of the container's own files count, not those of volumes. */
function idIn(text: string): string | undefined {
  for (const line of text.split("\n")) {
    const isMount = line.includes(" / ") || / - \w+ /.test(line);
    if (isMount && !/\/(hostname|hosts|resolv\.conf|\.containerenv) /.test(line)) continue;
    const id = FULL_ID.exec(line)?.[0];
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Returns a predicate for the service's own container. Ids are compared in full. */
export function selfMatcher(hint: SelfHint): (candidate: SelfCandidate) => boolean {
  return ({ id, hostname, networkMode }) => {
    if (hint.id !== null) return id === hint.id;
    if (hint.hostname === null) return false;
    // The engine's default host name is the first 12 digits of the id.
    if (/^[0-9a-f]{12}$/.test(hint.hostname)) return id.startsWith(hint.hostname);
    return networkMode !== "host" && hostname === hint.hostname;
  };
}
