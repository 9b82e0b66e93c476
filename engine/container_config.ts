/**
 * The configuration of a container, as sent to `POST /containers/create` and returned by
 * `GET /containers/{id}/json`. All types keep unknown fields, so that a container can be recreated
 * without loss on engines newer than this file.
 *
 * @module
 */

/** Host addresses by container port, e.g. `8080/tcp`. */
export type PortMap = Record<string, PortBinding[] | null>;

export interface PortBinding {
  HostIp?: string;
  /** Decimal, or empty for a port that the engine chooses. */
  HostPort?: string;
  [field: string]: unknown;
}

export interface HealthConfig {
  /** `["NONE"]`, `["CMD", ...]` or `["CMD-SHELL", command]`; empty inherits the image's. */
  Test?: string[];
  /** Nanoseconds, like the other durations. */
  Interval?: number;
  Timeout?: number;
  StartPeriod?: number;
  StartInterval?: number;
  Retries?: number;
  [field: string]: unknown;
}

/** The portable part of a container's configuration. */
export interface ContainerConfig {
  Hostname?: string;
  Domainname?: string;
  User?: string;
  AttachStdin?: boolean;
  AttachStdout?: boolean;
  AttachStderr?: boolean;
  ExposedPorts?: Record<string, Record<string, never>> | null;
  Tty?: boolean;
  OpenStdin?: boolean;
  /** `NAME=value`. */
  Env?: string[] | null;
  Cmd?: string[] | null;
  Healthcheck?: HealthConfig | null;
  ArgsEscaped?: boolean;
  /** The reference that the container was created from, not the image's id. */
  Image?: string;
  Volumes?: Record<string, Record<string, never>> | null;
  WorkingDir?: string;
  Entrypoint?: string[] | null;
  NetworkDisabled?: boolean;
  /** The only place of a fixed address before API 1.44; removed in 1.52. */
  MacAddress?: string;
  OnBuild?: string[] | null;
  Labels?: Record<string, string> | null;
  StopSignal?: string;
  /** Seconds. */
  StopTimeout?: number;
  Shell?: string[] | null;
  [field: string]: unknown;
}

export interface RestartPolicy {
  /** `""`, `no`, `always`, `unless-stopped` or `on-failure`. */
  Name?: string;
  MaximumRetryCount?: number;
  [field: string]: unknown;
}

export interface MountRequest {
  Type?: string;
  Source?: string;
  Target?: string;
  ReadOnly?: boolean;
  Consistency?: string;
  BindOptions?: Record<string, unknown>;
  VolumeOptions?: Record<string, unknown>;
  TmpfsOptions?: Record<string, unknown>;
  ImageOptions?: Record<string, unknown>;
  [field: string]: unknown;
}

/** The part of a container's configuration that depends on the host. */
export interface HostConfig {
  /** `source:target[:options]`; source is a path of the host or the name of a volume. */
  Binds?: string[] | null;
  ContainerIDFile?: string;
  LogConfig?: { Type?: string; Config?: Record<string, string> | null; [field: string]: unknown };
  /** `bridge`, `host`, `none`, `container:<id>`, or the name of a network. */
  NetworkMode?: string;
  PortBindings?: PortMap | null;
  RestartPolicy?: RestartPolicy;
  AutoRemove?: boolean;
  VolumesFrom?: string[] | null;
  Mounts?: MountRequest[] | null;
  CapAdd?: string[] | null;
  CapDrop?: string[] | null;
  CgroupnsMode?: string;
  Dns?: string[] | null;
  DnsOptions?: string[] | null;
  DnsSearch?: string[] | null;
  ExtraHosts?: string[] | null;
  GroupAdd?: string[] | null;
  IpcMode?: string;
  Links?: string[] | null;
  OomScoreAdj?: number;
  PidMode?: string;
  Privileged?: boolean;
  PublishAllPorts?: boolean;
  ReadonlyRootfs?: boolean;
  SecurityOpt?: string[] | null;
  StorageOpt?: Record<string, string> | null;
  Tmpfs?: Record<string, string> | null;
  UTSMode?: string;
  UsernsMode?: string;
  ShmSize?: number;
  Sysctls?: Record<string, string> | null;
  Runtime?: string;
  Isolation?: string;
  Annotations?: Record<string, string> | null;
  MaskedPaths?: string[] | null;
  ReadonlyPaths?: string[] | null;
  Init?: boolean | null;
  /** Bytes; 0 means unlimited. */
  Memory?: number;
  MemoryReservation?: number;
  /** Bytes, including memory; -1 means unlimited. */
  MemorySwap?: number;
  MemorySwappiness?: number | null;
  /** Billionths of a core; 0 means unlimited. */
  NanoCpus?: number;
  CpuShares?: number;
  /** Microseconds per `CpuPeriod`. */
  CpuQuota?: number;
  CpuPeriod?: number;
  CpuRealtimePeriod?: number;
  CpuRealtimeRuntime?: number;
  CpusetCpus?: string;
  CgroupParent?: string;
  BlkioWeight?: number;
  BlkioWeightDevice?: unknown[] | null;
  BlkioDeviceReadBps?: unknown[] | null;
  BlkioDeviceWriteBps?: unknown[] | null;
  BlkioDeviceReadIOps?: unknown[] | null;
  BlkioDeviceWriteIOps?: unknown[] | null;
  Devices?:
    | { PathOnHost?: string; PathInContainer?: string; CgroupPermissions?: string }[]
    | null;
  DeviceCgroupRules?: string[] | null;
  DeviceRequests?: unknown[] | null;
  OomKillDisable?: boolean | null;
  /** 0, -1 or null means unlimited. */
  PidsLimit?: number | null;
  Ulimits?: { Name?: string; Soft?: number; Hard?: number }[] | null;
  [field: string]: unknown;
}

/** Attachment of a container to a network: requested and actual settings. */
export interface EndpointSettings {
  /** Requested addresses; null if the engine assigns them. */
  IPAMConfig?:
    | { IPv4Address?: string; IPv6Address?: string; LinkLocalIPs?: string[] | null }
    | null;
  Links?: string[] | null;
  Aliases?: string[] | null;
  /** Names that resolve on the network; since API 1.44. */
  DNSNames?: string[] | null;
  DriverOpts?: Record<string, string> | null;
  GwPriority?: number;
  NetworkID?: string;
  EndpointID?: string;
  Gateway?: string;
  /** Empty while the container is not running. */
  IPAddress?: string;
  IPPrefixLen?: number;
  GlobalIPv6Address?: string;
  MacAddress?: string;
  [field: string]: unknown;
}

/** A mount as the engine created it. */
export interface MountPoint {
  /** `bind`, `volume`, `tmpfs`, `npipe`, `cluster` or `image`. */
  Type?: string;
  /** Name of a volume; 64 hex digits for an anonymous one. */
  Name?: string;
  Source?: string;
  Destination: string;
  Driver?: string;
  Mode?: string;
  RW?: boolean;
  Propagation?: string;
  [field: string]: unknown;
}
