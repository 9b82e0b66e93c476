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

/** Settings that have no effect outside of the container. */
const KEPT = [
  ...["CapAdd", "CapDrop", "SecurityOpt", "Sysctls", "ReadonlyRootfs", "GroupAdd"],
  ...["MaskedPaths", "ReadonlyPaths", "Runtime", "Init", "ExtraHosts", "Tmpfs", "ShmSize"],
  ...["Memory", "MemoryReservation", "MemorySwap", "MemorySwappiness", "OomScoreAdj", "PidsLimit"],
  ...["NanoCpus", "CpuShares", "CpuQuota", "CpuPeriod", "CpusetCpus", "Ulimits", "StorageOpt"],
];

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
      ...Object.fromEntries(KEPT.flatMap((field) => field in host ? [[field, host[field]]] : [])),
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

function ownConfig(config: ContainerConfig, isJoined: boolean): ContainerConfig {
  const own: ContainerConfig = {
    ...config,
    Env: config.Env?.filter((variable) => !PROXY_VARIABLE.test(variable)) ?? null,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
  };
  delete own.MacAddress;
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
  return [...copies, ...requested.filter(({ Type }) => Type === "tmpfs")];
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
