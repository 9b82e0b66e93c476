/**
 * Everything that the plan compares, by the key of the Compose Specification: the value in the model
 * and that in the description of a container.
 *
 * @module
 */

import type { ContainerConfig, HostConfig } from "../../../../engine/containers.ts";
import { isAtLeast } from "../../../../engine/query.ts";
import { CONFIG_FIELDS, HOST_FIELDS } from "../deploy/fields.ts";
import { restartPolicyOf } from "../deploy/host_config.ts";
import { LABEL } from "../labels.ts";
import type { Service } from "../load/resolve.ts";
import { parseDuration, printDuration } from "../load/values.ts";
import {
  type Comparison,
  type EngineDefaults,
  entries,
  namespaceOf,
  type Value,
} from "./comparison.ts";
import { foundMounts, wantedMounts } from "./mounts.ts";
import { NETWORK_COMPARISONS } from "./network_comparisons.ts";
import { RESOURCE_COMPARISONS } from "./resource_comparisons.ts";

/** Labels of Longshore, which no service has. */
const OWN_LABELS: ReadonlySet<string> = new Set([LABEL.files, LABEL.eachFile]);

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
    wanted: ({ annotations }, { defaults }) => isKnown("annotations", defaults) && annotations,
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
    found: ({ Env }) => variablesOf(Env),
  },
  healthcheck: {
    wanted: ({ healthcheck: { test, disable, retries, ...times } = {} }, { defaults }) =>
      disable ? { test: DISABLED } : withoutEmpty({
        test: test?.length ? JSON.stringify(test) : "",
        retries: retries ? String(retries) : "",
        ...Object.fromEntries(
          Object.entries(times).filter(([name]) =>
            name !== "start_interval" || isKnown("healthcheck.start_interval", defaults)
          ).map(([name, time]) => [name, nanoseconds(parseDuration(time!))]),
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
        (logDriver === undefined || LogConfig?.Type === logDriver)
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
  tmpfs: {
    wanted: ({ tmpfs = [] }) =>
      Object.fromEntries(tmpfs.map((entry) => {
        const [path = "", ...options] = entry.split(":");
        return [path, options.join(":")];
      })),
    found: (_, { Tmpfs }) => Tmpfs,
  },
  volumes: {
    wanted: (service, { project }) => wantedMounts(service, project),
    found: foundMounts,
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

/** The API versions of the engine since which it has a setting; older ones ignore it. */
const SINCE = {
  annotations: "1.43",
  "healthcheck.start_interval": "1.44",
} as const;

const isKnown = (setting: keyof typeof SINCE, { apiVersion }: EngineDefaults) =>
  apiVersion === undefined || isAtLeast(apiVersion, SINCE[setting]);

/** Returns a sentence for each setting of a service that the engine is too old for. */
export function unknownSettings(
  name: string,
  service: Service,
  defaults: EngineDefaults,
): string[] {
  const given = {
    annotations: service.annotations,
    "healthcheck.start_interval": service.healthcheck?.start_interval,
  };
  return (Object.keys(SINCE) as (keyof typeof SINCE)[])
    .filter((setting) => given[setting] !== undefined && !isKnown(setting, defaults))
    .map((setting) =>
      `${setting} of ${name} has no effect: it needs API version ${
        SINCE[setting]
      }, the engine has ` +
      defaults.apiVersion
    );
}

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
