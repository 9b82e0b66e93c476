/**
 * Random containers, as bodies of create requests that every engine since API 1.41 accepts.
 *
 * @module
 */

import type { ContainerCreateBody, EndpointSettings } from "../../engine/containers.ts";

/** Objects that the containers of one run may use. */
export interface Surroundings {
  images: readonly string[];
  /** Two networks with the subnets of `ADDRESSES`. */
  networks: readonly [string, string];
  /** A running container whose namespaces may be shared. */
  partner: string;
  /** A directory of the engine's host. */
  directory: string;
  /** Prefix of the names of volumes. */
  volumes: string;
}

export interface RandomContainer {
  body: ContainerCreateBody;
  /** Further networks, to be connected before the start. */
  connect: { network: string; endpoint: EndpointSettings }[];
}

/** Subnets of the two networks; the hosts from 100 on are for fixed addresses. */
export const ADDRESSES = [
  { ipv4: "10.91.0", ipv6: "fd91:0:0:1" },
  { ipv4: "10.92.0", ipv6: "fd92:0:0:1" },
] as const;

/** Ends at once when it is stopped. */
const SLEEP = "trap 'exit 0' TERM; sleep 2147483647 & wait";

/** @param index Below 100; makes names and addresses unique. */
export function randomContainer(
  random: () => number,
  index: number,
  { images, networks, partner, directory, volumes }: Surroundings,
): RandomContainer {
  const chance = (share = 0.5) => random() < share;
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
  const some = <T>(choices: readonly T[]) => choices.filter(() => chance());
  /** The fields, with a chance for each one. */
  const fields = <T extends object>(all: T, share = 0.3): Partial<T> =>
    Object.fromEntries(Object.entries(all).filter(() => chance(share))) as Partial<T>;

  const endpoint = (network: 0 | 1): EndpointSettings => {
    const { ipv4, ipv6 } = ADDRESSES[network];
    const addresses = fields({
      IPv4Address: `${ipv4}.${100 + index}`,
      IPv6Address: `${ipv6}::${100 + index}`,
    }, 0.5);
    return {
      ...(Object.keys(addresses).length && { IPAMConfig: addresses }),
      ...(chance() && { Aliases: some([`a${index}`, `b${index}.example`, `c${index}`]) }),
    };
  };

  const mode = pick([
    "default",
    "bridge",
    networks[0],
    networks[0],
    networks[1],
    networks[1],
    "host",
    "none",
    `container:${partner}`,
  ]);
  const own = networks.indexOf(mode) as -1 | 0 | 1;
  const isBridged = own >= 0 || mode === "bridge" || mode === "default";
  const joins = mode.startsWith("container:");
  const pidMode = pick(["", "", "", "host", `container:${partner}`]);
  const ipcMode = pick(["", "private", "shareable", "none", "host", `container:${partner}`]);

  const body: ContainerCreateBody = {
    Image: pick(images),
    Entrypoint: ["sh", "-c"],
    Cmd: [SLEEP],
    ...fields({
      Env: ["A=1", "B=a=b", "EMPTY=", `INDEX=${index}`],
      Labels: { "example.a": "1", "example.empty": "", "com.docker.compose.project": "drill" },
      User: pick(["1000", "1000:1000", "root"]),
      WorkingDir: pick(["/tmp", "/not/there/yet"]),
      Tty: true,
      OpenStdin: true,
      StopTimeout: 3,
      StopSignal: "SIGTERM",
      Volumes: { "/anonymous": {}, "/anonymous/inner": {} },
      Healthcheck: pick([
        { Test: ["NONE"] },
        { Test: ["CMD", "true"], Interval: 1_000_000_000 },
        { Test: ["CMD-SHELL", "exit 0"], Interval: 1_000_000_000, Retries: 2 },
      ]),
    }),
    ...(!joins &&
      fields({ Hostname: `host-${index}`, ExposedPorts: { "81/tcp": {}, "82/udp": {} } })),
    ...(!joins && chance(0.2) && { Domainname: "example.org" }),
    ...(isBridged && chance(0.3) && { MacAddress: `02:42:ac:11:99:${hex(index)}` }),
    HostConfig: {
      NetworkMode: mode,
      PidMode: pidMode,
      IpcMode: ipcMode,
      ...fields({
        Memory: 64 * 1024 * 1024,
        PidsLimit: 50,
        OomScoreAdj: 100,
        CpusetCpus: "0",
        ShmSize: 8 * 1024 * 1024,
        Init: true,
        ReadonlyRootfs: true,
        RestartPolicy: pick([
          { Name: "always", MaximumRetryCount: 0 },
          { Name: "unless-stopped", MaximumRetryCount: 0 },
          { Name: "on-failure", MaximumRetryCount: 3 },
        ]),
        Ulimits: [{ Name: "nofile", Soft: 512, Hard: 1024 }, { Name: "core", Soft: 0, Hard: 0 }],
        Devices: [{
          PathOnHost: "/dev/zero",
          PathInContainer: "/dev/drill",
          CgroupPermissions: pick(["r", "rwm"]),
        }],
        DeviceCgroupRules: ["c 1:3 r"],
        CapAdd: some(["NET_ADMIN", "SYS_TIME"]),
        CapDrop: some(["MKNOD", "AUDIT_WRITE"]),
        SecurityOpt: pick([["no-new-privileges"], ["seccomp=unconfined"]]),
        GroupAdd: ["10", "audio"].slice(0, 1),
        LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "2" } },
        Tmpfs: { "/scratch": "size=1m", "/run": "" },
        MaskedPaths: [],
        ReadonlyPaths: ["/proc/sys"],
      }),
      ...pick([{}, { NanoCpus: 500_000_000 }, { CpuPeriod: 50_000, CpuQuota: 25_000 }, {
        CpuShares: 512,
      }]),
      ...fields({
        Binds: some([
          `${directory}:/host:ro`,
          `${volumes}-named-${index}:/named`,
          "/bound-anonymous",
          `${volumes}-nocopy-${index}:/nocopy:nocopy`,
        ]),
        Mounts: some([
          { Type: "volume", Target: "/mounted-anonymous" },
          {
            Type: "volume",
            Source: `${volumes}-mounted-${index}`,
            Target: "/mounted",
            ReadOnly: true,
          },
          {
            Type: "volume",
            Source: `${volumes}-labelled-${index}`,
            Target: "/labelled",
            VolumeOptions: { Labels: { a: "b" }, NoCopy: true },
          },
          {
            Type: "tmpfs",
            Target: "/memory",
            TmpfsOptions: { SizeBytes: 1024 * 1024, Mode: 0o700 },
          },
          {
            Type: "bind",
            Source: directory,
            Target: "/shared",
            BindOptions: { Propagation: "rprivate" },
          },
        ]),
      }, 0.6),
      ...(isBridged && fields({
        PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: `${20_000 + index}` }] },
        PublishAllPorts: true,
        Dns: ["192.0.2.1"],
        DnsSearch: ["example.org"],
        DnsOptions: ["ndots:2"],
        ExtraHosts: ["db:192.0.2.7"],
        Sysctls: { "net.core.somaxconn": "256", "net.ipv4.ip_unprivileged_port_start": "0" },
      })),
    },
    ...(own >= 0 && {
      NetworkingConfig: { EndpointsConfig: { [mode]: endpoint(own as 0 | 1) } },
    }),
  };
  const other = own === 0 ? 1 : 0;
  return {
    body,
    connect: isBridged && chance() ? [{ network: networks[other], endpoint: endpoint(other) }] : [],
  };
}

const hex = (number: number) => number.toString(16).padStart(2, "0");
