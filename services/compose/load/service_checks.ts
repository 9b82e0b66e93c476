/** Checks of services against each other, and of keys that say the same. @module */

import type { Config, Part, Secret } from "./project_keys.ts";
import { fail, type Loading, quote, warn } from "./scope.ts";
import type { WrittenService } from "./service_keys.ts";

type Services = Readonly<Record<string, WrittenService>>;

/** Parts of a project that are checked. */
interface Checked {
  name: string;
  services: Services;
  secrets: Readonly<Record<string, Part<Secret>>>;
  configs: Readonly<Record<string, Part<Config>>>;
}

export const replicasOf = ({ scale, deploy }: Pick<WrittenService, "scale" | "deploy">) =>
  scale ?? deploy?.replicas ?? 1;

/** Settings that two keys have, by the path in `deploy`. */
const TWICE = {
  scale: "replicas",
  cpus: "resources.limits.cpus",
  mem_limit: "resources.limits.memory",
  mem_reservation: "resources.reservations.memory",
  pids_limit: "resources.limits.pids",
} as const;

/** Compose refuses two values of one setting. */
export function checkEqual(service: WrittenService, path: string, loading: Loading): void {
  for (const [key, other] of Object.entries(TWICE)) {
    const [value, second] = [
      service[key as keyof typeof TWICE],
      valueAt(service.deploy, other),
    ];
    if (value === undefined || second === undefined || value === second) continue;
    fail(loading, `${path}.${key}`, `must be equal to deploy.${other}, or be left out`);
  }
}

/** Returns the value at a path such as `resources.limits`. */
export const valueAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], value);

/** The engine has each name once: given ones, and `PROJECT-SERVICE-NUMBER` of other services. */
export function checkContainerNames({ name: project, services }: Checked, loading: Loading): void {
  const users = new Map<string, string>();
  for (const [key, { container_name: name }] of Object.entries(services)) {
    if (name === undefined) continue;
    const path = `services.${key}.container_name`;
    const [, service = "", number] =
      /^(.+)-([1-9]\d{0,3})$/.exec(afterPrefix(name, `${project}-`)) ??
        [];
    const numbered = Object.hasOwn(services, service) ? services[service]! : undefined;
    const isTaken = numbered && numbered.container_name === undefined &&
      Number(number) <= replicasOf(numbered);
    const user = users.get(name) ?? (isTaken ? service : undefined);
    if (user !== undefined) {
      fail(loading, path, `is also the name of a container of ${quote(user)}; choose another one`);
    }
    users.set(name, key);
  }
}

/** Limit of the containers of a project. */
const CONTAINERS_MAX = 2_000;

export function checkSize(services: Services, loading: Loading): void {
  let containers = 0;
  for (const [key, service] of Object.entries(services)) {
    containers += replicasOf(service);
    if (containers <= CONTAINERS_MAX) continue;
    fail(
      loading,
      `services.${key}`,
      `is too large: limit of ${CONTAINERS_MAX} containers of a project reached`,
    );
    return;
  }
}

const afterPrefix = (text: string, prefix: string) =>
  text.startsWith(prefix) ? text.slice(prefix.length) : "";

/** Says why a key has no effect. */
export const SWARM_ONLY = "has an effect in Swarm stacks only";

/** Keys of configs and secrets that only a swarm has. */
const SWARM_KEYS = ["driver", "driver_opts", "labels", "template_driver"] as const;

/** Warns of settings of configs or secrets that have no effect outside of a swarm, or of a copy. */
export function checkGrants(
  project: Checked,
  section: "configs" | "secrets",
  loading: Loading,
): void {
  const parts = project[section];
  const granted = new Set<string>();
  for (const [key, service] of Object.entries(project.services)) {
    for (const [index, { source, uid, gid, mode }] of (service[section] ?? []).entries()) {
      granted.add(source);
      const isMounted = loading.directory !== null && parts[source]?.file !== undefined;
      if (!isMounted || (uid ?? gid ?? mode) === undefined) continue;
      const message = "has uid, gid or mode without effect: the file is mounted as it is";
      warn(loading, `services.${key}.${section}[${index}]`, message);
    }
  }
  for (const [key, part] of Object.entries(parts)) {
    if (!granted.has(key)) continue;
    const path = `${section}.${key}`;
    if (part.external) {
      warn(loading, `${path}.external`, "is true, but only Swarm stacks have external ones");
    }
    for (const name of SWARM_KEYS) {
      if (part[name] !== undefined) warn(loading, `${path}.${name}`, SWARM_ONLY);
    }
  }
}

/** Warns of services into whose containers the engine cannot copy configs and secrets. */
export function checkReadOnly({ services }: Checked, loading: Loading): void {
  for (const [key, service] of Object.entries(services)) {
    const isCopied = (["configs", "secrets"] as const).some((section) =>
      service[section]?.some(({ source }) => loading.contents.has(`${section}.${source}`))
    );
    if (!service.read_only || !isCopied) continue;
    const message =
      "keeps configs and secrets from being copied into the container: use files of a " +
      "stack on disk, which are mounted";
    warn(loading, `services.${key}.read_only`, message);
  }
}

/** Warns of ports of the host that several containers publish: only one of them can start. */
export function checkPorts({ services }: Checked, loading: Loading): void {
  /** By port and protocol: the addresses with the services. An empty address stands for all. */
  const taken = new Map<string, Map<string, string>>();
  for (const [key, service] of Object.entries(services)) {
    for (const [index, { host_ip, published = "", protocol }] of (service.ports ?? []).entries()) {
      if (!/^[1-9]\d*$/.test(published)) continue;
      const path = `services.${key}.ports[${index}]`;
      const id = `${published}/${protocol}`;
      const address = host_ip === undefined || ANY_ADDRESS.has(host_ip) ? "" : host_ip;
      const users = taken.get(id) ?? new Map<string, string>();
      taken.set(id, users);
      const user = users.get(address) ?? users.get("") ??
        (address === "" ? users.values().next().value : undefined);
      if (user !== undefined) {
        warn(
          loading,
          path,
          `publishes ${id} of the host, as ${quote(user)} does: one cannot start`,
        );
      } else if (replicasOf(service) > 1) {
        warn(
          loading,
          path,
          `publishes ${id} of the host for several containers: without Swarm, one can start`,
        );
      }
      users.set(address, key);
    }
  }
}

const ANY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
