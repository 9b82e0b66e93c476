/**
 * Settings of a service in one form, from the model and from a container, so that they can be
 * compared.
 *
 * @module
 */

import type { ContainerConfig, ContainerInspect } from "../../../engine/containers.ts";
import { planRecreation } from "../../updates/recreate/recreate.ts";
import type { Service } from "../load/resolve.ts";
import { type Comparison, type Context, entries, type Setting } from "./comparison.ts";
import { COMPARISONS, healthcheckOf, variablesOf } from "./comparisons.ts";
import { signalName } from "./signals.ts";

/** Settings by the key of the Compose Specification. A setting that is not given is missing. */
export type Settings = Record<string, Setting | undefined>;

/** The values that mean "not given". */
const isUnset = (value: unknown) =>
  value === undefined || value === null || value === "" || value === false || value === 0 ||
  (typeof value === "object" && Object.keys(value).length === 0);

/** Keys that do not belong to the container, or that the plan checks by itself. */
const OTHER_KEYS = new Set([
  "configs",
  "depends_on",
  "deploy",
  "image",
  "platform",
  "post_start",
  "pre_stop",
  "profiles",
  "pull_policy",
  "scale",
  "secrets",
]);

/** Keys that are compared in several parts. */
const PARTS: Readonly<Record<string, string>> = { logging: "logging.driver" };

/** The settings of the model. */
export function settingsOfService(context: Context): Settings {
  return mapSettings(({ wanted }) => wanted(context.service, context));
}

/**
 * The settings of a container that its image does not have.
 *
 * @param image The configuration of the container's image; `undefined` if it was removed.
 */
export function settingsOfContainer(
  inspect: ContainerInspect,
  image: ContainerConfig | undefined,
  context: Context,
): Settings {
  const { HostConfig, ...own } = planRecreation(inspect, { image }).create;
  // Mounts as they were requested: the plan of a recreation also has the anonymous volumes.
  const { Binds = null, Mounts = null } = inspect.HostConfig;
  const host = { ...HostConfig, Binds, Mounts };
  return mapSettings(({ found }) => found(own, host, inspect, context));
}

/** The settings without those that the image has as well. */
export function withoutThoseOf(
  image: ContainerConfig | undefined,
  { environment, labels, healthcheck, expose, volumes, ...settings }: Settings,
): Settings {
  const { Cmd, Entrypoint, User, WorkingDir, StopSignal } = image ?? {};
  const own: Settings = { ...settings };
  const defaults = {
    command: Cmd,
    entrypoint: Entrypoint,
    user: User,
    working_dir: WorkingDir,
    stop_signal: signalName(StopSignal),
  };
  for (const [key, value] of Object.entries(defaults)) {
    if (JSON.stringify(own[key]) === JSON.stringify(value)) delete own[key];
  }
  const anonymous = Object.keys(image?.Volumes ?? {}).map((target) => [target, "volume"]);
  return {
    ...own,
    ...whereDifferent("environment", environment, variablesOf(image?.Env)),
    ...whereDifferent("expose", expose, entries(Object.keys(image?.ExposedPorts ?? {}))),
    ...whereDifferent("healthcheck", healthcheck, healthcheckOf(image?.Healthcheck)),
    ...whereDifferent("labels", labels, image?.Labels ?? {}),
    ...whereDifferent("volumes", volumes, Object.fromEntries(anonymous)),
  };
}

/** The keys of a service that no description of a container has. */
export const uncomparedKeys = (service: Service): string[] =>
  Object.entries(service).filter(([key, value]) =>
    !Object.hasOwn(COMPARISONS, PARTS[key] ?? key) && !OTHER_KEYS.has(key) && !isUnset(value)
  ).map(([key]) => key);

function mapSettings(read: (comparison: Comparison) => unknown): Settings {
  return Object.fromEntries(
    Object.entries(COMPARISONS).flatMap(([key, comparison]) => {
      const value = read(comparison);
      if (isUnset(value)) return [];
      return [[key, typeof value === "object" ? value as Setting : String(value)]];
    }),
  );
}

function whereDifferent(
  key: string,
  own: Setting | undefined,
  defaults: Readonly<Record<string, string>>,
): Settings {
  const different = Object.entries(own ?? {}).filter(([name, value]) => defaults[name] !== value);
  return different.length === 0 ? {} : { [key]: Object.fromEntries(different) };
}
