/**
 * The request that creates a container of a trial: of what the original has, only what cannot reach
 * anything outside of the trial.
 *
 * @module
 */

import type {
  ContainerConfig,
  ContainerCreateBody,
  EndpointSettings,
  HostConfig,
  MountRequest,
} from "../../../engine/containers.ts";
import { sharedContainer } from "../../../engine/containers.ts";
import type { Engine } from "../../../engine/client.ts";
import { refersTo } from "../../containers/share_group.ts";
import { keyOf, sourceOf, type TrialMember } from "./members.ts";

/** The other parts of a trial. */
export interface TrialParts {
  /** Name of its network. */
  network: string;
  /** Its volumes by the key of what they are copies of. */
  volumes: ReadonlyMap<string, string>;
  /** Keys of files of the host that are copied into the container before it starts. */
  files: Pick<ReadonlySet<string>, "has">;
  /** Members with their new ids, as far as they exist. */
  created: readonly { member: TrialMember; id: string }[];
  /** All members. */
  members: readonly TrialMember[];
  /** Its own labels. */
  labels: Record<string, string>;
}

/** Settings of the configuration; labels are left out. */
const CONFIG_KEPT = [
  ...["Image", "User", "Hostname", "Domainname", "WorkingDir", "Entrypoint", "Cmd", "Shell"],
  ...["ArgsEscaped", "Env", "Tty", "OpenStdin", "Healthcheck", "StopSignal", "StopTimeout"],
  ...["ExposedPorts", "Volumes", "NetworkDisabled"],
];

/**
 * Settings that have no effect outside of the container. Hidden paths and the runtime are the engine's
 * default ones, whatever the original has.
 */
const KEPT = [
  ...["ReadonlyRootfs", "SecurityOpt", "Init", "ExtraHosts", "Tmpfs", "ShmSize"],
  ...["Memory", "MemoryReservation", "MemorySwap", "MemorySwappiness", "PidsLimit"],
  ...["NanoCpus", "CpuShares", "CpuQuota", "CpuPeriod", "CpusetCpus", "Ulimits", "StorageOpt"],
];

/** Parameters of the kernel that each container has its own of; IPv6 would reach the host. */
const OWN_SYSCTL =
  /^(?:net\.(?:core|ipv4|unix)|fs\.mqueue|kernel\.(?:msg|sem|shm)[a-z_]*)(?:\.[\w-]+)*$/;

const NET_RAW = /^(?:CAP_)?NET_RAW$/i;

/** Labels by which programs that watch the engine leave a container alone. */
const LEFT_ALONE = {
  "autoheal": "false",
  "com.centurylinklabs.watchtower.enable": "false",
  "com.ouroboros.enable": "false",
  "diun.enable": "false",
  "ofelia.enabled": "false",
  "traefik.enable": "false",
  "wud.watch": "false",
};

/** Variables by which reverse proxies find the containers that they publish. */
const PROXY_VARIABLE = /^(?:VIRTUAL_|LETSENCRYPT_|ACME_)/;

/** The default host name of a container: the beginning of its id. */
const SHORT_ID = /^[0-9a-f]{12}$/;

/** @param imageLabels Those of its image, which the engine would add. */
export function trialBody(
  engine: Pick<Engine, "kind">,
  member: TrialMember,
  parts: TrialParts,
  imageLabels: Readonly<Record<string, string>>,
): ContainerCreateBody {
  const { HostConfig: host = {}, NetworkingConfig: _, ...config } = member.recreation.create;
  const joined = sharedContainer(host.NetworkMode);
  const network = networkOf(host, parts);
  return {
    ...ownConfig(config, joined !== undefined),
    Labels: {
      ...Object.fromEntries(Object.keys(imageLabels).map((name) => [name, ""])),
      ...LEFT_ALONE,
      ...parts.labels,
    },
    HostConfig: {
      ...picked(host, KEPT),
      ...rightsOf(host),
      ...namespacesOf(host, parts),
      NetworkMode: network,
      Mounts: mountsOf(member, parts),
      RestartPolicy: { Name: "no" },
      ...(hasFiles(member, parts) && { ReadonlyRootfs: false }),
      ...(engine.kind === "docker" && {
        // Names that the engine does not know are asked for here, where nothing answers.
        ...(joined === undefined && { Dns: ["127.0.0.1"] }),
        LogConfig: { Type: "json-file", Config: { "max-size": "10m" } },
      }),
    },
    ...(network === parts.network && {
      NetworkingConfig: {
        EndpointsConfig: { [network]: { Aliases: aliasesOf(member, parts) } },
      },
    }),
  };
}

const hasFiles = ({ mounts }: TrialMember, { files }: TrialParts): boolean =>
  mounts.some((mount) => {
    const source = sourceOf(mount);
    return source !== undefined && files.has(keyOf(source));
  });

function networkOf({ NetworkMode }: HostConfig, parts: TrialParts): string {
  const joined = sharedContainer(NetworkMode);
  if (joined !== undefined) return `container:${peerOf(joined, parts)}`;
  return NetworkMode === "none" ? "none" : parts.network;
}

const picked = (
  from: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((field) => Object.hasOwn(from, field) ? [[field, from[field]]] : []),
  );

/** Rights, without the one to send packets of any form to others. */
const rightsOf = (
  { CapAdd, CapDrop, GroupAdd, Sysctls }: HostConfig,
): Pick<HostConfig, "CapAdd" | "CapDrop" | "GroupAdd" | "Sysctls"> => ({
  ...(CapAdd && { CapAdd: CapAdd.filter((each) => !NET_RAW.test(each)) }),
  CapDrop: [...CapDrop ?? [], "NET_RAW"],
  // Those of the engine's service, for Podman.
  ...(GroupAdd && { GroupAdd: GroupAdd.filter((each) => each !== "keep-groups") }),
  ...(Sysctls && {
    Sysctls: Object.fromEntries(
      Object.entries(Sysctls).filter(([name]) => OWN_SYSCTL.test(name)),
    ),
  }),
});

function ownConfig(config: ContainerConfig, isJoined: boolean): ContainerConfig {
  const own: ContainerConfig = {
    ...picked(config, CONFIG_KEPT),
    // Podman would take one without a value from the environment of its service.
    Env: config.Env?.filter((each) => each.includes("=") && !PROXY_VARIABLE.test(each)) ?? null,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
  };
  if (isJoined || SHORT_ID.test(own.Hostname ?? "")) delete own.Hostname;
  if (isJoined) {
    delete own.Domainname;
    delete own.ExposedPorts;
  }
  return own;
}

/** Namespaces that it shares with other members; it has its own ones otherwise. */
function namespacesOf(
  { IpcMode, PidMode }: HostConfig,
  parts: TrialParts,
): Pick<HostConfig, "IpcMode" | "PidMode"> {
  const ipc = sharedContainer(IpcMode);
  const pid = sharedContainer(PidMode);
  return {
    ...(ipc !== undefined && { IpcMode: `container:${peerOf(ipc, parts)}` }),
    ...(IpcMode === "shareable" && { IpcMode }),
    ...(pid !== undefined && { PidMode: `container:${peerOf(pid, parts)}` }),
  };
}

/** `assertHarmless()` has found it among the members, which are created in their order. */
const peerOf = (ref: string, { created }: TrialParts): string =>
  created.find(({ member }) => refersTo(ref, member))!.id;

/** Mounts of copies only: nothing of the host, neither directories nor sockets. */
function mountsOf({ mounts, recreation }: TrialMember, { volumes }: TrialParts): MountRequest[] {
  const requested = recreation.create.HostConfig?.Mounts ?? [];
  const copies = mounts.flatMap((mount): MountRequest[] => {
    const source = sourceOf(mount);
    const volume = source && volumes.get(keyOf(source));
    if (volume === undefined) return [];
    const { VolumeOptions } = requested.find(({ Target }) => Target === mount.Destination) ?? {};
    const subpath = VolumeOptions?.Subpath;
    return [{
      Type: "volume",
      Source: volume,
      Target: mount.Destination,
      ReadOnly: mount.RW === false,
      ...(subpath !== undefined && { VolumeOptions: { Subpath: subpath } }),
    }];
  });
  const inMemory = requested.flatMap(({ Type, Target, TmpfsOptions }): MountRequest[] =>
    Type === "tmpfs" && Target ? [{ Type, Target, ...(TmpfsOptions && { TmpfsOptions }) }] : []
  );
  return [...copies, ...inMemory];
}

/** Names by which other members reach it: all that it has on its networks, and those of links. */
function aliasesOf(
  { name, id, service, networks }: TrialMember,
  { members }: TrialParts,
): string[] {
  const own = Object.values(networks).flatMap(({ Aliases, DNSNames }: EndpointSettings) => [
    ...Aliases ?? [],
    ...DNSNames ?? [],
  ]);
  const linked = members.flatMap(linksOf).flatMap((link) => {
    const [ref = "", alias = ""] = link.split(":");
    return refersTo(ref, { id, name }) ? alias : [];
  });
  const names = [name, ...(service === null ? [] : [service]), ...own, ...linked];
  return [...new Set(names)].filter((each) => each !== "" && !SHORT_ID.test(each));
}

/** E.g. `shop-db-1:db`. */
const linksOf = ({ networks, recreation: { create } }: TrialMember): string[] => [
  ...create.HostConfig?.Links ?? [],
  ...Object.values(networks).flatMap(({ Links }) => Links ?? []),
];
