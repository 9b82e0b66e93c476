/**
 * Everything that the plan compares, by the key of the Compose Specification: the value in the model
 * and that in the description of a container.
 *
 * @module
 */

import type { ContainerConfig, HostConfig } from "../../../engine/containers.ts";
import { CONFIG_FIELDS, HOST_FIELDS } from "../deploy/fields.ts";
import { restartPolicyOf } from "../deploy/host_config.ts";
import { LABEL } from "../labels.ts";
import type { Service } from "../load/resolve.ts";
import { parseDuration, printDuration } from "../load/values.ts";
import { type Comparison, entries, namespaceOf, type Value } from "./comparison.ts";
import { foundMounts, wantedMounts } from "./mounts.ts";
import { NETWORK_COMPARISONS } from "./network_comparisons.ts";
import { RESOURCE_COMPARISONS } from "./resource_comparisons.ts";
import { signalName } from "./signals.ts";

/** Labels of Longshore, which no service has. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  LABEL.files,
  LABEL.eachFile,
  LABEL.keptVolumes,
]);

const COMPOSE_LABELS = "com.docker.compose.";

/** Compares fields that the engine has under another name only. */
function comparisonsOf(
  part: "own" | "host",
  fields: Readonly<Partial<Record<keyof Service, string>>>,
): Record<string, Comparison> {
  const unordered = (value: unknown) => Array.isArray(value) ? entries(value) : value as Value;
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, {
      wanted: (service) => unordered(service[key as keyof Service]),
      found: (own, host) => unordered((part === "own" ? own : host)[field]),
    }]),
  );
}

export const COMPARISONS: Readonly<Record<string, Comparison>> = {
  ...comparisonsOf("own", CONFIG_FIELDS),
  ...comparisonsOf("host", HOST_FIELDS),
  ...NETWORK_COMPARISONS,
  ...RESOURCE_COMPARISONS,
  annotations: {
    wanted: ({ annotations }) => annotations,
    found: (_, { Annotations }) => Annotations,
  },
  cap_add: {
    wanted: ({ cap_add }) => entries(cap_add?.map(capability)),
    found: (_, { CapAdd }) => entries(CapAdd?.map(capability)),
  },
  cap_drop: {
    wanted: ({ cap_drop }) => entries(cap_drop?.map(capability)),
    found: (_, { CapDrop }) => entries(CapDrop?.map(capability)),
  },
  cgroup: {
    wanted: ({ cgroup }) => cgroup,
    // The default depends on the host.
    found: (_, { CgroupnsMode }, __, { service }) => service.cgroup && CgroupnsMode,
  },
  command: {
    wanted: ({ command }) => command,
    found: ({ Cmd }) => Cmd,
  },
  container_name: {
    wanted: ({ container_name }) => container_name,
    found: (_, __, { Name, Config }, { name, project, service }) => {
      const found = Name.replace(/^\//, "");
      if (service.container_name !== undefined) return found;
      const number = Config.Labels?.[LABEL.containerNumber] ?? "1";
      // Between them is a dash, with docker-compose 1 an underscore.
      const own = [`${project.name}-${name}-${number}`, `${project.name}_${name}_${number}`];
      return own.some((each) => found === each || found.endsWith(`_${each}`)) ? undefined : found;
    },
  },
  entrypoint: {
    wanted: ({ entrypoint }) => entrypoint,
    found: ({ Entrypoint }) => Entrypoint,
  },
  environment: {
    wanted: ({ environment = {} }) =>
      Object.fromEntries(
        Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== null),
      ),
    found: ({ Env }, _, __, { service: { environment = {} } }) => {
      const found = Object.entries(variablesOf(Env));
      const isPodman = found.some(([name, value]) => name === "container" && value === "podman");
      return Object.fromEntries(
        found.filter(([name]) =>
          !isPodman || !PODMAN_VARIABLES.has(name) || Object.hasOwn(environment, name)
        ),
      );
    },
  },
  healthcheck: {
    wanted: ({ healthcheck: { test, disable, retries, ...times } = {} }) =>
      disable ? { test: DISABLED } : withoutEmpty({
        test: test?.length ? JSON.stringify(test) : "",
        retries: retries ? String(retries) : "",
        ...Object.fromEntries(
          Object.entries(times).map(([name, time]) => [name, nanoseconds(parseDuration(time!))]),
        ),
      }),
    found: ({ Healthcheck }) => healthcheckOf(Healthcheck),
  },
  ipc: {
    wanted: ({ ipc }) => ipc,
    found: (_, { IpcMode }, __, context) =>
      context.service.ipc === undefined && /^(?:private|shareable|)$/.test(IpcMode ?? "")
        ? undefined
        : namespaceOf(IpcMode, context),
  },
  isolation: {
    wanted: ({ isolation }) => isolation === "default" ? undefined : isolation,
    found: (_, { Isolation }) => Isolation === "default" ? undefined : Isolation,
  },
  labels: {
    wanted: ({ labels }) => labels,
    found: ({ Labels }) =>
      Object.fromEntries(
        Object.entries(Labels ?? {}).filter(([name]) =>
          !name.startsWith(COMPOSE_LABELS) && !OWN_LABELS.has(name)
        ),
      ),
  },
  "logging.driver": {
    wanted: ({ logging }) => logging?.driver,
    found: (_, { LogConfig }, __, { service, defaults: { logDriver } }) =>
      service.logging?.driver === undefined &&
        (!logDriver || LogConfig?.Type === logDriver)
        ? undefined
        : LogConfig?.Type,
  },
  "logging.options": {
    wanted: ({ logging }) => logging?.options,
    // The engine adds its own options, which are not distinguishable.
    found: (_, { LogConfig }, __, { service }) =>
      service.logging?.options === undefined ? undefined : Object.fromEntries(
        Object.entries(LogConfig?.Config ?? {}).filter(([name]) =>
          Object.hasOwn(service.logging!.options!, name)
        ),
      ),
  },
  pid: {
    wanted: ({ pid }) => pid,
    found: (_, { PidMode }, __, context) =>
      PidMode === "private" ? undefined : namespaceOf(PidMode, context),
  },
  restart: {
    wanted: (service) => restartText(restartPolicyOf(service)),
    found: (_, { RestartPolicy }) => restartText(RestartPolicy),
  },
  runtime: {
    wanted: ({ runtime }) => runtime,
    found: (_, { Runtime }, __, { service, defaults }) =>
      service.runtime === undefined &&
        (defaults.runtime === undefined || Runtime === defaults.runtime || Runtime === "oci")
        ? undefined
        : Runtime,
  },
  security_opt: {
    wanted: ({ security_opt }) => entries(security_opt?.map(securityOption)),
    found: (_, { SecurityOpt }, __, { service: { security_opt, privileged, pid, ipc } }) => {
      const found = SecurityOpt?.map(securityOption) ?? [];
      if (!privileged && pid === undefined && ipc === undefined) return entries(found);
      // The engine adds labels to containers that share its namespaces.
      const wanted = security_opt?.map(securityOption) ?? [];
      return entries(
        found.filter((option) => !option.startsWith("label=") || wanted.includes(option)),
      );
    },
  },
  stop_grace_period: {
    wanted: ({ stop_grace_period }) => seconds(stop_grace_period),
    found: ({ StopTimeout }) => StopTimeout,
  },
  stop_signal: {
    wanted: ({ stop_signal }) => signalName(stop_signal),
    // Podman describes the default, too, and all of them by their number.
    found: ({ StopSignal }, _, __, { service }) =>
      service.stop_signal === undefined && StopSignal === "15" ? undefined : signalName(StopSignal),
  },
  tmpfs: {
    wanted: ({ tmpfs = [] }) =>
      Object.fromEntries(tmpfs.map((entry) => {
        const [path = "", ...options] = entry.split(":");
        return [path, options.join(":")];
      })),
    found: (_, { Tmpfs }, __, { service: { tmpfs = [], volumes = [] } }) => {
      const given = new Set(tmpfs.flatMap((entry) => entry.split(/[:,]/)));
      const mounted = volumes.filter(({ type }) => type === "tmpfs").map(({ target }) => target);
      return Object.fromEntries(
        Object.entries(Tmpfs ?? {}).filter(([path]) => !mounted.includes(path)).map((
          [path, options],
        ) => [
          path,
          options.split(",").filter((each) => given.has(each) || !PODMAN_TMPFS.has(each)).join(","),
        ]),
      );
    },
  },
  uts: {
    wanted: ({ uts }) => uts,
    found: (_, { UTSMode }) => UTSMode === "private" ? undefined : UTSMode,
  },
  volumes: {
    wanted: (service, { project }) => wantedMounts(service, project),
    found: (own, host, inspect, { service }) => foundMounts(own, host, inspect, service),
  },
  working_dir: {
    wanted: ({ working_dir }) => working_dir,
    // Podman describes the default.
    found: ({ WorkingDir }, _, __, { service }) =>
      service.working_dir === undefined && WorkingDir === "/" ? undefined : WorkingDir,
  },
  volumes_from: {
    wanted: ({ volumes_from }) =>
      entries(volumes_from?.map((entry) => entry.replace(/^container:/, "").replace(/:rw$/, ""))),
    found: (_, { VolumesFrom }, __, { serviceOf }) =>
      entries(
        VolumesFrom?.map((entry) => {
          const [container = "", mode] = entry.split(":");
          const source = serviceOf(container) ?? container;
          return mode === undefined || mode === "rw" ? source : `${source}:${mode}`;
        }),
      ),
  },
};

/** Options of a tmpfs that Podman adds. */
const PODMAN_TMPFS: ReadonlySet<string> = new Set([
  "nodev",
  "nosuid",
  "rprivate",
  "rw",
  "tmpcopyup",
]);

/** Variables that Podman sets by itself. */
const PODMAN_VARIABLES: ReadonlySet<string> = new Set([
  "container",
  "HOME",
  "HOSTNAME",
  "PATH",
  "TERM",
]);

/** The settings of a health check; without those that are not given. */
export function healthcheckOf(check: ContainerConfig["Healthcheck"]): Record<string, string> {
  const { Test = [], Retries, Interval, Timeout, StartPeriod, StartInterval } = check ?? {};
  if (Test[0] === "NONE") return { test: DISABLED };
  return withoutEmpty({
    test: Test.length > 0 ? JSON.stringify(Test) : "",
    retries: Retries ? String(Retries) : "",
    interval: nanoseconds(Interval),
    timeout: nanoseconds(Timeout),
    start_period: nanoseconds(StartPeriod),
    start_interval: nanoseconds(StartInterval),
  });
}

/** Variables by name; a name without a value is not set. */
export const variablesOf = (list: readonly string[] | null | undefined) =>
  Object.fromEntries(
    (list ?? []).filter((entry) => entry.includes("=")).map((entry) => {
      const at = entry.indexOf("=");
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );

const DISABLED = "disabled";

const withoutEmpty = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));

const nanoseconds = (ns: number | undefined) => ns ? printDuration(ns) : "";

const seconds = (duration: string | undefined) =>
  duration === undefined ? undefined : Math.ceil(parseDuration(duration) / 1e9);

const capability = (name: string) => name.toUpperCase().replace(/^CAP_/, "");

/** Older engines and files separate name and value with a colon. */
const securityOption = (option: string) =>
  option.replace(/^(seccomp|apparmor|label|no-new-privileges):/, "$1=")
    .replace(/^no-new-privileges=true$/, "no-new-privileges");

function restartText(policy: HostConfig["RestartPolicy"]): string | undefined {
  const { Name = "", MaximumRetryCount = 0 } = policy ?? {};
  if (Name === "no") return undefined;
  return MaximumRetryCount > 0 ? `${Name}:${MaximumRetryCount}` : Name;
}
