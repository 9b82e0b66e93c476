/**
 * Whether this service runs in a container itself, and in which: that one is never stopped,
 * restarted or rebuilt by it.
 *
 * @module
 */

/** What is known of the own container; all `null` on a bare host. */
export interface SelfHint {
  /** Whether the service runs in a container at all. */
  isContainerized?: boolean;
  /** Whether its absence was reported. */
  isReported?: boolean;
  /** Full id of 64 hex digits. */
  id: string | null;
  /** The own host name, where there are signs of being in a container at all. */
  hostname: string | null;
}

/** What a container has to show for the comparison. */
export interface SelfCandidate {
  id: string;
  /** Its configured host name. */
  hostname: string;
  /** E.g. `bridge`, or `host`, in which the host name is the host's. */
  networkMode: string;
}

const FULL_ID = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/;

/** Where the own container's id may stand, best first. `{proc}` is `/proc` or its mount. */
const ID_SOURCES = [
  "/run/.containerenv", // Podman, when it runs as root
  "{proc}/self/cgroup",
  "{proc}/self/mountinfo", // .../containers/<id>/hostname, also with cgroup v2
];

/** Files that engines put into a container. */
const CONTAINER_MARKS = ["/.dockerenv", "/run/.containerenv"];

/** The control group of a process in a container, where the engine shows it. */
const CONTAINER_CGROUP = /\/(docker|libpod|cri-containerd)[-/]|\/kubepods/;

/**
 * Looks for signs of the own container.
 *
 * @param readTextFile Throws for what is missing, or what this process may not read: the
 * runtime keeps `/proc` from a process with few permissions, hence the several sources.
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
  // On a bare host the mounts and cgroups are full of other containers' ids.
  if (!inContainer) return { isContainerized: false, id: null, hostname: null };

  for (const source of ID_SOURCES) {
    const id = idIn(read(source.replace("{proc}", procPath ?? "/proc")) ?? "");
    if (id !== undefined) return { isContainerized: true, id, hostname };
  }
  return { isContainerized: true, id: null, hostname };
}

/** Of a mount table only the lines of the container's own files count, not those of volumes. */
function idIn(text: string): string | undefined {
  for (const line of text.split("\n")) {
    const isMount = line.includes(" / ") || / - \w+ /.test(line);
    if (isMount && !/\/(hostname|hosts|resolv\.conf|\.containerenv) /.test(line)) continue;
    const id = FULL_ID.exec(line)?.[0];
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Makes the comparison. Ids are compared in full; a name alone never decides. */
export function selfMatcher(hint: SelfHint): (candidate: SelfCandidate) => boolean {
  return ({ id, hostname, networkMode }) => {
    if (hint.id !== null) return id === hint.id;
    if (hint.hostname === null) return false;
    // The engine's default host name is the first 12 digits of the id.
    if (/^[0-9a-f]{12}$/.test(hint.hostname)) return id.startsWith(hint.hostname);
    return networkMode !== "host" && hostname === hint.hostname;
  };
}
