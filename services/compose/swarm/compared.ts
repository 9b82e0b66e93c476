/** Specifications of services in one form: without what the engine fills in, and as plain texts. @module */

import type { Grant, ServiceSpec } from "../../../engine/swarm.ts";
import { shortImage } from "../../swarm/services.ts";
import type { Reason } from "../plan/differences.ts";

/** Values by path; lists are texts. */
export type Compared = ReadonlyMap<string, string>;

/** Values that the swarm assumes for missing ones, by the end of the path. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  "ContainerSpec.Isolation": "default",
  "ContainerSpec.StopGracePeriod": 10e9,
  "EndpointSpec.Mode": "vip",
  "RestartPolicy.Condition": "any",
  "RestartPolicy.Delay": 5e9,
  "Config.FailureAction": "pause",
  "Config.Monitor": 5e9,
  "Config.Order": "stop-first",
  "Config.Parallelism": 1,
};

/** Parts besides the settings, and those that programs choose. */
const LEFT_OUT =
  /^(?:Name|TaskTemplate\.(?:ForceUpdate|Runtime|Placement\.Platforms|Networks))(?:\.|$)|^Networks(?:\.|$)|^Labels\.(?:com\.docker\.stack\.image|longshore\.)/;

/**
 * @param networkNames Names by id.
 * @param options.hasFailureAction Whether the Compose file says what happens after a failed update.
 */
export function compared(
  spec: ServiceSpec,
  networkNames: ReadonlyMap<string, string>,
  { hasFailureAction }: { hasFailureAction: boolean },
): Compared {
  const { ContainerSpec, Networks, ...task } = spec.TaskTemplate ?? {};
  const { Env, Image = "", Secrets, Configs, ...container } = ContainerSpec ?? {};
  const found = new Map<string, string>();
  const mounts = (container.Mounts as Mount[] | null | undefined ?? []).map(withoutDriverOptions);
  const Mounts = mounts.map(({ mount }) => mount);
  collect(
    { ...spec, TaskTemplate: { ...task, ContainerSpec: { ...container, Mounts } } },
    "",
    found,
  );
  for (const { mount: { Target = "" }, options } of mounts) {
    if (options !== "") found.set(`driver_opts.${Target}`, options);
  }
  found.set("image", shortImage(Image));
  for (const [name, value] of (Env as string[] | undefined ?? []).map(splitVariable)) {
    found.set(`environment.${name}`, value);
  }
  for (const grant of [...Secrets ?? [], ...Configs ?? []]) {
    found.set(`files.${grant.File?.Name}`, grantText(grant));
  }
  for (const { Target = "", Aliases } of Networks ?? []) {
    const name = networkNames.get(Target) ?? Target;
    found.set(`networks.${name}`, (Aliases ?? []).toSorted().join(" "));
  }
  if (!hasFailureAction) found.delete("UpdateConfig.FailureAction");
  if (!hasFailureAction && found.get("UpdateConfig.MaxFailureRatio") === "0") {
    found.delete("UpdateConfig.MaxFailureRatio");
  }
  return found;
}

interface Mount {
  Target?: string;
  VolumeOptions?: { DriverConfig?: { Name?: string; Options?: Record<string, string> | null } };
}

/** A mount, and as a text the options of its driver, which may be passwords. */
function withoutDriverOptions(mount: Mount): { mount: Mount; options: string } {
  const { DriverConfig: driver, ...volume } = mount.VolumeOptions ?? {};
  if (!driver) return { mount, options: "" };
  const { Options, ...named } = driver;
  return {
    mount: { ...mount, VolumeOptions: { ...volume, DriverConfig: named } },
    options: textOf(Options ?? {}),
  };
}

function splitVariable(entry: string): [name: string, value: string] {
  const at = entry.indexOf("=");
  return at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
}

const grantText = ({ File, SecretName, ConfigName }: Grant) =>
  `${SecretName ?? ConfigName} ${File?.UID ?? "0"}:${File?.GID ?? "0"} ${File?.Mode?.toString(8)}`;

/** Values of which 0 is none of the missing ones: no replicas, and all tasks at once. */
const ZERO_COUNTS = /^Mode\.Replicated\.Replicas$|Config\.Parallelism$/;

/** Leaves out empty values, which the engine treats as missing ones. */
function collect(value: unknown, path: string, found: Map<string, string>): void {
  if (LEFT_OUT.test(path) || isEmpty(value) && !ZERO_COUNTS.test(path)) return;
  if (isDefault(path, value)) return;
  if (Array.isArray(value)) {
    found.set(shownPath(path), value.map((each) => textOf(each)).join(" "));
  } else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (/^Mode\.Global/.test(path)) found.set(shownPath(path), "yes");
    for (const [name, each] of entries) {
      collect(each, path === "" ? name : `${path}.${name}`, found);
    }
  } else found.set(shownPath(path), String(value));
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || value === false || value === 0 ||
  (Array.isArray(value) && value.length === 0);

const isDefault = (path: string, value: unknown) =>
  Object.entries(DEFAULTS).some(([end, usual]) => path.endsWith(end) && value === usual);

/** An object without empty values and with sorted names, so that equal ones have equal texts. */
function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const found = new Map<string, string>();
  collect(value, "", found);
  return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([name, text]) => `${name}=${text}`)
    .join(",");
}

const shownPath = (path: string) => path.replace(/^TaskTemplate\.(?:ContainerSpec\.)?/, "");

/** Paths whose values are never shown. */
const SECRET = /^(?:environment|LogDriver\.Options)\.|^driver_opts\./;

/** Reasons for which a service is changed; none if both are equal. */
export function reasonsOf(before: Compared, after: Compared): Reason[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.filter((path) => before.get(path) !== after.get(path))
    .map((path) => toReason(path, before.get(path) ?? null, after.get(path) ?? null));
}

function toReason(path: string, before: string | null, after: string | null): Reason {
  const isSecret = SECRET.test(path);
  const shown = (value: string | null) => value !== null && isSecret ? "(changed)" : value;
  const what = before === null ? "added" : after === null ? "removed" : "changed";
  const text = isSecret || before === null || after === null
    ? `${path} ${what}`
    : `${path}: ${before} → ${after}`;
  return { path, from: shown(before), to: shown(after), text };
}
