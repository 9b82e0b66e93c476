/**
 * Merging of normalised services, networks, volumes, secrets and configs: `extends`, override files,
 * and several files in one `include`.
 *
 * @see https://github.com/compose-spec/compose-spec/blob/main/13-merge.md
 * @module
 */

import type { Device } from "./devices.ts";
import type { Mount } from "./mounts.ts";
import type { Port } from "./ports.ts";
import type { FileGrant } from "./grants.ts";
import type { EnvFileEntry } from "./service_keys.ts";
import type { MapNode } from "./nodes.ts";

type Values = Record<string, unknown>;

/** Values that are replaced as a whole, by their paths below the service. */
const REPLACED = new Set(["command", "entrypoint", "healthcheck.test"]);

/** Key shared by entries of a list that replace each other; entries without one must be equal. */
const IDENTITIES: Readonly<Record<string, (entry: never) => string>> = {
  configs: ({ source, target = source }: FileGrant) => pathIn("/", target),
  devices: ({ source, target = source }: Device) => target,
  env_file: ({ path }: EnvFileEntry) => path,
  ports: ({ host_ip = "0.0.0.0", published = "", target, protocol }: Port) =>
    `${host_ip}:${published}:${target}/${protocol}`,
  secrets: ({ source, target = source }: FileGrant) => pathIn("/run/secrets/", target),
  tmpfs: (mount: string) => mount.split(":", 1)[0]!,
  volumes: ({ target }: Mount) => target,
};

const pathIn = (directory: string, path: string) =>
  path.startsWith("/") ? path : `${directory}${path}`;

/**
 * Returns `base` with everything that `over` has. Maps are merged, lists are joined.
 *
 * @param written What `over` was read from: `!reset`, `!override` and empty values clear those of
 * `base`.
 */
export const mergeParts = <T extends object>(base: T, over: T, written: MapNode | undefined): T =>
  mergeValues(cleared(base as Values, written), over as Values, "") as T;

function mergeValues(base: Values, over: Values, path: string): Values {
  const merged = Object.entries(over).map(([key, value]) => [
    key,
    Object.hasOwn(base, key) ? mergeValue(base[key], value, path ? `${path}.${key}` : key) : value,
  ]);
  return { ...base, ...Object.fromEntries(merged) };
}

function mergeValue(base: unknown, over: unknown, path: string): unknown {
  if (REPLACED.has(path)) return over;
  if (Array.isArray(base) && Array.isArray(over)) {
    if (path === "ipam.config") return mergeSubnets(base, over);
    return mergeLists(base, over, IDENTITIES[path] ?? JSON.stringify);
  }
  if (isValues(base) && isValues(over)) {
    // Options belong to their driver.
    const isOther = path === "logging" && base.driver !== undefined && over.driver !== undefined &&
      base.driver !== over.driver;
    return isOther ? over : mergeValues(base, over, path);
  }
  // An empty entry, e.g. of a network, changes nothing.
  return over === null && typeof base === "object" ? base : over;
}

/** An entry replaces the one that stands for the same, at its place. */
const mergeLists = (
  base: readonly unknown[],
  over: readonly unknown[],
  identity: (entry: never) => string,
): unknown[] => [
  ...new Map([...base, ...over].map((entry) => [identity(entry as never), entry])).values(),
];

/** As Compose does: settings of a subnet are merged, and other subnets replace those of `base`. */
function mergeSubnets(base: readonly Values[], over: readonly Values[]): Values[] {
  const bySubnet = new Map(base.map((config) => [config.subnet, config]));
  return over.map((config) => mergeValues(bySubnet.get(config.subnet) ?? {}, config, ""));
}

/** Returns `base` without what the tags and empty values of an override remove. */
function cleared(base: Values, written: MapNode | undefined, path = ""): Values {
  const kept = { ...base };
  for (const [key, { value: node }] of written?.entries ?? []) {
    const value = kept[key];
    if (Array.isArray(value) && node.kind === "map") kept[key] = withoutMarked(value, node);
    if (!Object.hasOwn(kept, key)) continue;
    const inner = path ? `${path}.${key}` : key;
    const isEmpty = node.kind === "scalar" && node.value === null;
    if (node.mark || (isEmpty && (REPLACED.has(inner) || typeof value !== "object"))) {
      delete kept[key];
    } else if (isValues(value) && node.kind === "map") kept[key] = cleared(value, node, inner);
  }
  return kept;
}

/** Of `NAME=value`, e.g. `extra_hosts`, which are a map when they are written. */
const withoutMarked = (entries: readonly unknown[], { entries: written }: MapNode) =>
  entries.filter((entry) =>
    typeof entry !== "string" || !written.get(entry.split("=", 1)[0]!)?.value.mark
  );

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
