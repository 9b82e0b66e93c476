/** Compares descriptions of containers, before and after an update. @module */

import type { ContainerInspect } from "../../engine/containers.ts";

/**
 * The description without times, process ids, and what the engine assigns: ids, host paths that
 * contain them, and addresses and ports that were not requested.
 */
export function comparableContainer(inspect: ContainerInspect): unknown {
  const shortId = inspect.Id.slice(0, 12);
  const withoutIds = JSON.parse(
    JSON.stringify(inspect).replaceAll(inspect.Id, "<id>").replaceAll(shortId, "<short id>"),
  );
  const { Config, HostConfig, Mounts, NetworkSettings, State, ...rest } = withoutIds;
  for (const field of ["Created", "ExecIDs", "GraphDriver"]) delete rest[field];
  const { Binds, Mounts: _requested, ...host } = HostConfig;
  return {
    ...rest,
    Config,
    // The request for an anonymous volume changes, because it has a name then; see Mounts.
    HostConfig: { ...host, Binds: Binds?.filter((bind: string) => bind.includes(":")) ?? [] },
    Mounts: Mounts.map(({ Mode: _mode, ...mount }: { Mode: string }) => mount)
      .sort(byKey("Destination")),
    state: [State.Status, State.ExitCode, State.OOMKilled, State.Error],
    networks: Object.entries(NetworkSettings.Networks).sort(byKey(0)).map(([network, settings]) => {
      const { IPAMConfig, Aliases, Links, NetworkID, DriverOpts, Gateway } = settings as Endpoint;
      const { IPAddress, GlobalIPv6Address, MacAddress } = settings as Endpoint;
      return {
        network,
        ...{
          IPAMConfig: IPAMConfig ?? {},
          Aliases: Aliases?.sort() ?? [],
          Links,
          NetworkID,
          DriverOpts,
        },
        Gateway,
        fixed: [
          IPAMConfig?.IPv4Address && IPAddress,
          IPAMConfig?.IPv6Address && GlobalIPv6Address,
          // It applies to the first network only.
          Boolean(Config.MacAddress) && MacAddress === Config.MacAddress,
        ],
      };
    }),
  };
}

/** The paths at which two descriptions differ, with both values. */
export function differences(before: unknown, after: unknown, path = ""): string[] {
  if (!isObject(before) || !isObject(after)) {
    const [was, is] = [before, after].map((value) => JSON.stringify(value) ?? "nothing");
    return was === is ? [] : [`${path}: ${was} became ${is}`];
  }
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    differences(before[key], after[key], `${path}.${key}`)
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

// deno-lint-ignore no-explicit-any
type Endpoint = Record<string, any>;

const byKey = (key: string | number) => (a: Endpoint, b: Endpoint) =>
  String(a[key]).localeCompare(String(b[key]));
