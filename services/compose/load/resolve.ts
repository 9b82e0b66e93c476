/**
 * The model of a project: files of variables and labels are read, defaults are filled in and
 * references are checked.
 *
 * @module
 */

import { checkCombinations } from "./combinations.ts";
import { resolveEnvironment, resolveHooks, resolveLabels } from "./environment.ts";
import { readText, type WrittenProject } from "./files.ts";
import { findForbiddenOption, isLocalDriver } from "./local_volume.ts";
import {
  type Config,
  nameParts,
  type Network,
  type Part,
  type Secret,
  type Volume,
} from "./project_keys.ts";
import { fail, type Loading, type Lookup, noteBuild, quote, warn } from "./scope.ts";
import {
  checkContainerNames,
  checkEqual,
  checkGrants,
  checkPorts,
  checkReadOnly,
  checkSize,
  replicasOf,
  SWARM_ONLY,
  valueAt,
} from "./service_checks.ts";
import type { Dependency, WrittenService } from "./service_keys.ts";

const OWN_BACKOFF = `${SWARM_ONLY}: the engine waits longer after each failure`;

/** Keys of a file that the model does not have. */
const UNKNOWN_HERE = ["build", "develop", "models", "provider"] as const;

/** Settings without effect on an engine without a swarm, by the path in `deploy`. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  mode: SWARM_ONLY,
  endpoint_mode: SWARM_ONLY,
  labels: SWARM_ONLY,
  update_config: SWARM_ONLY,
  rollback_config: SWARM_ONLY,
  placement: SWARM_ONLY,
  "resources.reservations.cpus": SWARM_ONLY,
  "resources.reservations.pids": SWARM_ONLY,
  "resources.reservations.generic_resources": SWARM_ONLY,
  "restart_policy.delay": OWN_BACKOFF,
  "restart_policy.window": OWN_BACKOFF,
};

/** A service as Compose would run it. Durations are text such as `1m30s`, sizes are bytes as text. */
export type Service =
  & Omit<
    WrittenService,
    | typeof UNKNOWN_HERE[number]
    | "attach"
    | "depends_on"
    | "env_file"
    | "extends"
    | "image"
    | "label_file"
    | "pull_refresh_after"
  >
  & { image: string; depends_on?: Record<string, Dependency> };

/** A project. The names of networks, volumes, secrets and configs on the engine are filled in. */
export interface Project {
  name: string;
  services: Record<string, Service>;
  networks: Record<string, Part<Network>>;
  volumes: Record<string, Part<Volume>>;
  secrets: Record<string, Part<Secret>>;
  configs: Record<string, Part<Config>>;
}

/** @param profiles The active ones; `*` for all. */
export async function resolveProject(
  written: WrittenProject,
  name: string,
  profiles: readonly string[],
  loading: Loading,
  lookup: Lookup,
): Promise<Project> {
  const chosen = new Set(profiles);
  const isActive = ({ profiles: own = [] }: WrittenService) =>
    own.length === 0 || chosen.has("*") || own.some((each) => chosen.has(each));
  const active = Object.entries(written.services).filter(([, service]) => isActive(service));
  if (written.models) {
    const isUsed = active.some(([, { image }]) => image === undefined);
    (isUsed ? fail : warn)(loading, "models", "are not supported: the engine cannot run models");
  }
  const services: Project["services"] = {};
  for (const [key, service] of active) {
    await loading.pause();
    services[key] = resolveService(service, `services.${key}`, loading, lookup);
  }
  const project: Project = {
    name,
    services,
    networks: nameParts(written.networks, "networks", name, loading),
    volumes: nameParts(written.volumes, "volumes", name, loading),
    secrets: nameParts(written.secrets, "secrets", name, loading),
    configs: nameParts(written.configs, "configs", name, loading),
  };
  const usesDefault = active.some(([key]) => "default" in (services[key]!.networks ?? {}));
  if (usesDefault) project.networks.default ??= { name: `${name}_default` };

  for (const key of Object.keys(services)) {
    await loading.pause();
    checkReferences(project, written, key, loading);
    checkCombinations(services[key]!, `services.${key}`, loading);
  }
  for (const section of ["secrets", "configs"] as const) {
    for (const [key, part] of Object.entries(project[section])) {
      readContent(part, `${section}.${key}`, loading, lookup);
    }
    checkGrants(project, section, loading);
  }
  checkContainerNames(project, loading);
  checkPorts(project, loading);
  checkReadOnly(project, loading);
  checkVolumes(project, loading);
  checkSize(services, loading);
  if (loading.errors.length === 0) checkCycles(services, loading);
  return project;
}

function resolveService(
  written: WrittenService,
  path: string,
  loading: Loading,
  lookup: Lookup,
): Service {
  const {
    attach: _,
    build,
    depends_on: dependencies,
    develop,
    env_file: envFiles,
    extends: __,
    image,
    label_file: labelFiles,
    models,
    provider,
    pull_refresh_after: ___,
    ...service
  } = written;
  for (const [key, given] of Object.entries({ build, develop, models, provider })) {
    if (!given) continue;
    const at = `${path}.${key}`;
    if (image === undefined) fail(loading, at, "is not supported; give an image");
    else warn(loading, at, "is not supported and has no effect; the image is used");
    if (image !== undefined && key === "build") noteBuild(loading, at, image);
  }
  if (image === undefined && !build && !provider) fail(loading, path, "must have image");
  for (const [key, reason] of Object.entries(WITHOUT_EFFECT)) {
    if (valueAt(service.deploy, key) === undefined) continue;
    warn(loading, `${path}.deploy.${key}`, reason);
  }
  if (service.network_mode !== undefined && Object.keys(service.networks ?? {}).length > 0) {
    fail(loading, `${path}.network_mode`, "must not be given together with networks");
  }
  checkEqual(service, path, loading);
  const replicas = replicasOf(service);
  if (service.container_name !== undefined && replicas > 1) {
    fail(loading, `${path}.container_name`, "must not be given for more than one container");
  }
  const joinsNone = Object.keys(service.networks ?? {}).length === 0;
  return {
    ...service,
    ...(joinsNone && service.network_mode === undefined ? { networks: { default: null } } : {}),
    ...resolveEnvironment(envFiles, service.environment, path, loading, lookup),
    ...resolveLabels(labelFiles, service.labels, path, loading),
    ...(dependencies && { depends_on: resolveDependencies(dependencies) }),
    ...(service.post_start && { post_start: resolveHooks(service.post_start, lookup) }),
    ...(service.pre_stop && { pre_stop: resolveHooks(service.pre_stop, lookup) }),
    image: image ?? "",
  };
}

const resolveDependencies = (dependencies: NonNullable<WrittenService["depends_on"]>) =>
  Object.fromEntries(
    Object.entries(dependencies).map(([name, each]) => [name, { required: true, ...each }]),
  );

function checkReferences(
  { services, networks, volumes, secrets, configs }: Project,
  written: WrittenProject,
  key: string,
  loading: Loading,
): void {
  const service = services[key]!;
  const path = `services.${key}`;
  const check = (
    parts: Record<string, unknown>,
    what: string,
    names: Iterable<readonly [path: string, name: string | undefined]>,
  ) => {
    for (const [inner, name] of names) {
      if (name === undefined || Object.hasOwn(parts, name)) continue;
      const isDisabled = what === "service" && Object.hasOwn(written.services, name);
      const problem = isDisabled ? "is in a profile that is not active" : "is not defined";
      fail(loading, `${path}.${inner}`, `${what} ${quote(name)} ${problem}`);
    }
  };
  const pathsOf = (list: string, names: readonly (string | undefined)[] = []) =>
    names.map((name, index) => [`${list}[${index}]`, name] as const);

  check(networks, "network", Object.keys(service.networks ?? {}).map((n) => [`networks.${n}`, n]));
  check(
    volumes,
    "volume",
    pathsOf(
      "volumes",
      service.volumes?.map(({ type, source }) => type === "volume" ? source : undefined),
    ),
  );
  check(secrets, "secret", pathsOf("secrets", service.secrets?.map(({ source }) => source)));
  check(configs, "config", pathsOf("configs", service.configs?.map(({ source }) => source)));
  check(
    services,
    "service",
    [
      ...Object.entries(service.depends_on ?? {}).filter(([, { required }]) => required)
        .map(([name]) => [`depends_on.${name}`, name] as const),
      ...pathsOf("links", service.links?.map((link) => link.split(":")[0])),
      ...pathsOf("volumes_from", service.volumes_from?.map(serviceOfVolumes)),
      ...MODES.map((mode) => [mode, serviceOfMode(service[mode])] as const),
    ],
  );
  const mounts = new Set<string>();
  for (const [index, { target }] of (service.volumes ?? []).entries()) {
    const at = `${path}.volumes[${index}]`;
    if (mounts.has(target)) fail(loading, at, `is the second mount at ${quote(target)}`);
    mounts.add(target);
  }
}

const MODES = ["network_mode", "ipc", "pid"] as const;

/** The service of `service:NAME`. */
const serviceOfMode = (mode: string | undefined) => /^service:(.+)$/.exec(mode ?? "")?.[1];

/** The service of an entry of `volumes_from`; `container:NAME` is not one of the project. */
const serviceOfVolumes = (entry: string) =>
  entry.startsWith("container:") ? undefined : entry.split(":")[0];

/** The services that must be started before a service, also because it uses parts of them. */
export function dependenciesOf(service: Service): Record<
  string,
  Required<
    NonNullable<Service["depends_on"]>[string]
  >
> {
  const implied = [
    ...(service.links ?? []).map((link) => link.split(":")[0]),
    ...(service.volumes_from ?? []).map(serviceOfVolumes),
    ...MODES.map((mode) => serviceOfMode(service[mode])),
  ].filter((name) => name !== undefined);
  return Object.fromEntries([
    ...implied.map((name) =>
      [name, { condition: "service_started" as const, restart: true, required: true }] as const
    ),
    ...Object.entries(service.depends_on ?? {}).map(([name, dependency]) =>
      [name, { restart: false, ...dependency }] as const
    ),
  ]);
}

/** Reads a secret or config, which has one source. */
function readContent(
  part: Part<Secret> & { content?: string },
  path: string,
  loading: Loading,
  lookup: Lookup,
): void {
  const { external, file, environment, content, driver } = part;
  if (external || driver !== undefined) return;
  const given = [file, environment, content].filter((source) => source !== undefined);
  if (given.length !== 1) {
    fail(loading, path, "must have exactly one of file, environment, content and external");
    return;
  }
  let text = content;
  if (environment !== undefined) {
    text = lookup(environment);
    if (text === undefined) {
      fail(loading, `${path}.environment`, `variable ${quote(environment)} is not set`);
    }
  } else if (file !== undefined && loading.directory === null) {
    text = readText(file, `${path}.file`, loading);
  }
  if (text !== undefined) loading.contents.set(path, text);
}

/** Reports volumes that mount what `BIND_ALLOW` does not allow. */
function checkVolumes({ volumes }: Project, loading: Loading): void {
  const { bindAllow } = loading;
  if (!bindAllow) return;
  for (const [key, { driver, driver_opts: options = {} }] of Object.entries(volumes)) {
    const found = isLocalDriver(driver) ? findForbiddenOption(options, bindAllow) : undefined;
    if (found) fail(loading, `volumes.${key}.driver_opts.${found.option}`, found.problem);
  }
}

/** Services that wait for each other would never start. */
function checkCycles(services: Record<string, Service>, loading: Loading): void {
  const done = new Set<string>();
  const chain: string[] = [];
  const visit = (name: string): void => {
    if (done.has(name) || !Object.hasOwn(services, name)) return;
    const start = chain.indexOf(name);
    if (start >= 0) {
      const cycle = [...chain.slice(start, start + CYCLE_SHOWN_MAX), name].map(quote).join(", ");
      fail(loading, `services.${name}.depends_on`, `services depend on each other: ${cycle}`);
    } else {
      chain.push(name);
      for (const each of Object.keys(dependenciesOf(services[name]!))) visit(each);
      chain.pop();
    }
    done.add(name);
  };
  for (const name of Object.keys(services)) visit(name);
}

/** Services of a cycle in a message. */
const CYCLE_SHOWN_MAX = 5;
