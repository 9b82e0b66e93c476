/** The engine's own reports about a container: its description and its changed files. @module */

import type { Page, Paged } from "../../db/page.ts";
import { containerChanges } from "../../engine/container_changes.ts";
import type { ContainerInspect } from "../../engine/containers.ts";
import { type Caller, includesRole } from "../access/caller.ts";
import type { Holder } from "../access/shares.ts";
import { includesContainer, isLimited, type Scope } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { REDACTED } from "../text/redact.ts";
import { assertMayInspect } from "./own_container.ts";
import type { Container } from "./inventory.ts";
import { currentContainers, inspectContainer, type ReadDeps, resolveContainer } from "./reads.ts";
import { startErrorOf } from "./secret_values.ts";

/**
 * The engine's description of a container. Only an admin sees the values of environment variables
 * and of options of log and volume drivers, which may be passwords.
 *
 * @throws {AppError} `not_found`; `forbidden` for the service's own container unless the caller is
 * an admin.
 */
export async function describeContainer(
  deps: ReadDeps,
  ref: string,
  caller: Pick<Caller, "role" | "scope">,
): Promise<ContainerInspect> {
  const container = await resolveContainer(deps, ref);
  assertMayInspect(container, caller);
  const found = await inspectContainer(deps, container.id);
  const inspect = isLimited(caller.scope)
    ? withoutIds(withoutReferences(found), await currentContainers(deps), caller.scope)
    : found;
  return includesRole(caller.role, "admin") ? inspect : redacted(inspect);
}

/** Without references to other containers, which a token's scope may exclude. */
function withoutReferences(inspect: ContainerInspect): ContainerInspect {
  const withoutId = (mode: unknown) =>
    typeof mode === "string" ? mode.replace(/^container:.*/, `container:${REDACTED}`) : mode;
  const host = Object.entries(inspect.HostConfig).map(([name, value]) => {
    if (name === "Links" || name === "VolumesFrom") return [name, null];
    return [name, name.endsWith("Mode") ? withoutId(value) : value];
  });
  const networks = Object.entries(inspect.NetworkSettings.Networks ?? {}).map((
    [name, network],
  ) => [name, { ...network, Links: null }]);
  return {
    ...inspect,
    HostConfig: Object.fromEntries(host),
    NetworkSettings: { ...inspect.NetworkSettings, Networks: Object.fromEntries(networks) },
  };
}

/** Ids of containers, also short ones. */
const ID = /\b[0-9a-f]{12,64}\b/g;

const SHORT_ID_LENGTH = 12;

/**
 * Without ids of containers outside of the scope, e.g. in `HostsPath` and as the host name of one
 * that shares a network.
 */
function withoutIds(
  inspect: ContainerInspect,
  all: readonly Container[],
  scope: Scope,
): ContainerInspect {
  const short = (id: string) => id.slice(0, SHORT_ID_LENGTH);
  const foreign = new Set(
    all.filter((each) => !includesContainer(scope, each)).map(({ id }) => short(id)),
  );
  const hidden = (text: string) => text.replace(ID, (id) => foreign.has(short(id)) ? REDACTED : id);
  return JSON.parse(
    JSON.stringify(inspect),
    (_, value) => typeof value === "string" ? hidden(value) : value,
  );
}

function redacted(inspect: ContainerInspect): ContainerInspect {
  const { Config, HostConfig, State } = inspect;
  const { LogConfig, Mounts } = HostConfig;
  return {
    ...inspect,
    State: { ...State, ...(State.Error && { Error: startErrorOf(inspect) }) },
    Config: { ...Config, ...(Config.Env && { Env: Config.Env.map(redactedVariable) }) },
    HostConfig: {
      ...HostConfig,
      ...(LogConfig && { LogConfig: { ...LogConfig, Config: redactedValues(LogConfig.Config) } }),
      ...(Mounts && { Mounts: Mounts.map(redactedMount) }),
    },
  };
}

type MountRequest = NonNullable<ContainerInspect["HostConfig"]["Mounts"]>[number];

function redactedMount(mount: MountRequest): MountRequest {
  const driver = mount.VolumeOptions?.DriverConfig as
    | { Options?: Record<string, string> | null }
    | null
    | undefined;
  if (!driver?.Options) return mount;
  const DriverConfig = { ...driver, Options: redactedValues(driver.Options) };
  return { ...mount, VolumeOptions: { ...mount.VolumeOptions, DriverConfig } };
}

const redactedVariable = (entry: string) => entry.replace(/=[^]*/, `=${REDACTED}`);

const redactedValues = (values: Record<string, string> | null = {}) =>
  values && Object.fromEntries(Object.keys(values).map((name) => [name, REDACTED]));

const CHANGE_KINDS = ["modified", "added", "deleted"] as const;

/** A file or folder that differs from the container's image. */
interface FileChange {
  /** Absolute, as the container sees it. */
  path: string;
  kind: (typeof CHANGE_KINDS)[number];
}

/**
 * The changed files of a container by path, without those in volumes.
 *
 * @throws {AppError} As `describeContainer()`; `too_many_requests`.
 */
export async function listChanges(
  deps: ReadDeps & Pick<Deps, "limiters">,
  ref: string,
  { limit, offset }: Page,
  caller: Pick<Caller, "role"> & Holder,
  signal: AbortSignal,
): Promise<{ changes: FileChange[] } & Paged> {
  const container = await resolveContainer(deps, ref);
  assertMayInspect(container, caller);
  const changes = await deps.limiters.fileComparisons(
    caller,
    () => containerChanges(deps.engine, container.id, { signal }),
  );
  changes.sort((a, b) => a.Path < b.Path ? -1 : 1);
  return {
    changes: changes.slice(offset, offset + limit).map(({ Path, Kind }) => ({
      path: Path,
      kind: CHANGE_KINDS[Kind] ?? "modified",
    })),
    total: changes.length,
    limit,
    offset,
  };
}
