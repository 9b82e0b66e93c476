/**
 * Answers of Docker 29 (API 1.52) with containerd's image store on a host with control groups of
 * version 2, in the shapes of moby's API documentation (https://github.com/moby/moby, `api/docs`):
 * fields that older engines send are missing, and newer ones are there.
 *
 * @module
 */

import type { FakeAnswer } from "./fake_engine.ts";

const sha256 = (digit: string) => `sha256:${digit.repeat(64)}`;

/** Subjects of the recorded answers. */
export const RECORDED = {
  containerId: "c".repeat(64),
  networkId: "e".repeat(64),
  /** The index that the tag names now, of two platforms and an attestation. */
  indexDigest: sha256("b"),
  /** The index that the container was created from, which has lost its name. */
  untaggedDigest: sha256("a"),
  /** The image of the container's platform in it. */
  manifestDigest: sha256("d"),
} as const;

const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";

const descriptor = (digest: string) => ({ mediaType: INDEX_TYPE, digest, size: 10_229 });

const manifests = [
  {
    ID: sha256("1"),
    Descriptor: {
      mediaType: MANIFEST_TYPE,
      digest: sha256("1"),
      size: 2_295,
      platform: { architecture: "amd64", os: "linux" },
    },
    Available: true,
    Size: { Content: 3_987_495, Total: 8_213_251 },
    Kind: "image",
    ImageData: {
      Platform: { architecture: "amd64", os: "linux" },
      Containers: [],
      Size: { Unpacked: 4_225_756 },
    },
  },
  {
    ID: sha256("2"),
    Descriptor: {
      mediaType: MANIFEST_TYPE,
      digest: sha256("2"),
      size: 839,
      annotations: { "vnd.docker.reference.type": "attestation-manifest" },
      platform: { architecture: "unknown", os: "unknown" },
    },
    Available: true,
    Size: { Content: 12_000, Total: 12_000 },
    Kind: "attestation",
    AttestationData: { For: sha256("1") },
  },
];

const image = {
  Containers: 0,
  Created: 1_760_000_000,
  Id: RECORDED.indexDigest,
  Labels: { "org.opencontainers.image.version": "1.29.2" },
  ParentId: "",
  Descriptor: descriptor(RECORDED.indexDigest),
  RepoDigests: [`registry.example/team/web@${RECORDED.indexDigest}`],
  RepoTags: ["registry.example/team/web:1"],
  SharedSize: -1,
  Size: 8_213_251,
};

const untagged = {
  ...image,
  Containers: 1,
  Id: RECORDED.untaggedDigest,
  Labels: null,
  Descriptor: descriptor(RECORDED.untaggedDigest),
  RepoDigests: [],
  RepoTags: [],
};

/** Fields that are empty are omitted, among them `Env`, `Labels` and `WorkingDir` of `Config`. */
const imageInspect = {
  Id: RECORDED.indexDigest,
  RepoTags: image.RepoTags,
  RepoDigests: image.RepoDigests,
  Created: "2025-10-09T08:53:20.497794809Z",
  Config: { ExposedPorts: { "80/tcp": {} }, Cmd: ["httpd", "-f"], ArgsEscaped: true },
  Architecture: "amd64",
  Os: "linux",
  Size: 8_213_251,
  RootFS: { Type: "layers", Layers: [sha256("3")] },
  Metadata: { LastTagTime: "2026-01-01T10:00:00.5Z" },
  Descriptor: descriptor(RECORDED.indexDigest),
  Manifests: manifests,
};

const endpoint = {
  IPAMConfig: null,
  Links: null,
  Aliases: null,
  DriverOpts: null,
  GwPriority: 0,
  NetworkID: RECORDED.networkId,
  EndpointID: "f".repeat(64),
  Gateway: "172.17.0.1",
  IPAddress: "172.17.0.4",
  MacAddress: "9a:ec:af:8a:ac:81",
  IPPrefixLen: 16,
  IPv6Gateway: "",
  GlobalIPv6Address: "",
  GlobalIPv6PrefixLen: 0,
  DNSNames: null,
};

const imageManifestDescriptor = {
  mediaType: MANIFEST_TYPE,
  digest: RECORDED.manifestDigest,
  size: 2_295,
  annotations: { "org.opencontainers.image.version": "1.29.1" },
  platform: { architecture: "amd64", os: "linux" },
};

const containerSummary = {
  Id: RECORDED.containerId,
  Names: ["/web"],
  Image: RECORDED.untaggedDigest,
  ImageID: RECORDED.untaggedDigest,
  ImageManifestDescriptor: imageManifestDescriptor,
  Command: "httpd -f",
  Created: 1_767_225_600,
  Ports: [{ IP: "0.0.0.0", PrivatePort: 80, PublicPort: 8080, Type: "tcp" }],
  Labels: {},
  State: "running",
  Status: "Up 3 minutes (healthy)",
  HostConfig: { NetworkMode: "bridge" },
  Health: { Status: "healthy", FailingStreak: 0 },
  NetworkSettings: { Networks: { bridge: endpoint } },
  Mounts: [],
};

/** Without `GraphDriver` and the addresses at the top of `NetworkSettings`. */
const containerInspect = {
  Id: RECORDED.containerId,
  Created: "2026-01-01T00:00:00.123456789Z",
  Path: "httpd",
  Args: ["-f"],
  State: {
    Status: "running",
    Running: true,
    Paused: false,
    Restarting: false,
    OOMKilled: false,
    Dead: false,
    Pid: 1234,
    ExitCode: 0,
    Error: "",
    StartedAt: "2026-01-01T00:00:01.461876391Z",
    FinishedAt: "0001-01-01T00:00:00Z",
    Health: { Status: "healthy", FailingStreak: 0, Log: null },
  },
  Image: RECORDED.untaggedDigest,
  Name: "/web",
  RestartCount: 0,
  Driver: "overlayfs",
  Platform: "linux",
  MountLabel: "",
  ProcessLabel: "",
  AppArmorProfile: "docker-default",
  ExecIDs: null,
  HostConfig: {
    NetworkMode: "bridge",
    RestartPolicy: { Name: "no", MaximumRetryCount: 0 },
    Memory: 268_435_456,
    PidsLimit: null,
    CgroupnsMode: "private",
    OomKillDisable: null,
  },
  Storage: { RootFS: { Snapshot: { Name: "overlayfs" } } },
  Mounts: [],
  Config: {
    Hostname: "cccccccccccc",
    Env: ["PATH=/bin"],
    Cmd: ["httpd", "-f"],
    Image: "registry.example/team/web:1",
    Labels: {},
  },
  NetworkSettings: {
    SandboxID: "9".repeat(64),
    SandboxKey: "/var/run/docker/netns/999999999999",
    Ports: { "80/tcp": [{ HostIp: "0.0.0.0", HostPort: "8080" }], "81/tcp": null },
    Networks: { bridge: endpoint },
  },
  ImageManifestDescriptor: imageManifestDescriptor,
};

/** Of control groups of version 2: no `max_usage`, `failcnt`, `percpu_usage` and counts of I/O. */
const stats = {
  id: RECORDED.containerId,
  name: "web",
  os_type: "linux",
  read: "2026-01-01T00:05:01Z",
  preread: "2026-01-01T00:05:00Z",
  // The limit is that of the kernel: 2^64 - 1.
  pids_stats: { current: 13, limit: 18_446_744_073_709_552_000 },
  blkio_stats: {
    io_service_bytes_recursive: [
      { major: 254, minor: 0, op: "read", value: 7_593_984 },
      { major: 254, minor: 0, op: "write", value: 100 },
    ],
    io_serviced_recursive: null,
    io_queue_recursive: null,
    io_service_time_recursive: null,
    io_wait_time_recursive: null,
    io_merged_recursive: null,
    io_time_recursive: null,
    sectors_recursive: null,
  },
  num_procs: 0,
  storage_stats: {},
  cpu_stats: {
    cpu_usage: {
      total_usage: 2_500_000_000,
      usage_in_kernelmode: 1_000_000_000,
      usage_in_usermode: 1_500_000_000,
    },
    system_cpu_usage: 900_000_000_000,
    online_cpus: 2,
    throttling_data: { periods: 4, throttled_periods: 1, throttled_time: 50_000_000 },
  },
  precpu_stats: {
    cpu_usage: {
      total_usage: 2_000_000_000,
      usage_in_kernelmode: 900_000_000,
      usage_in_usermode: 1_100_000_000,
    },
    system_cpu_usage: 898_000_000_000,
    online_cpus: 2,
    throttling_data: { periods: 0, throttled_periods: 0, throttled_time: 0 },
  },
  memory_stats: {
    usage: 100_000_000,
    stats: {
      active_anon: 1_000,
      active_file: 2_000_000,
      anon: 60_000_000,
      anon_thp: 0,
      file: 30_000_000,
      file_dirty: 0,
      file_mapped: 5_000_000,
      inactive_anon: 60_000_000,
      inactive_file: 28_000_000,
      kernel_stack: 100_000,
      pgfault: 1_234,
      pgmajfault: 5,
      shmem: 0,
      slab: 200_000,
      slab_reclaimable: 150_000,
      unevictable: 0,
    },
    limit: 268_435_456,
  },
  networks: {
    eth0: {
      rx_bytes: 5_338,
      rx_packets: 36,
      rx_errors: 0,
      rx_dropped: 1,
      tx_bytes: 648,
      tx_packets: 8,
      tx_errors: 0,
      tx_dropped: 0,
    },
  },
};

const volume = {
  Name: "data",
  Driver: "local",
  Mountpoint: "/var/lib/docker/volumes/data/_data",
  CreatedAt: "2026-01-01T00:00:00Z",
  Labels: null,
  Scope: "local",
  Options: null,
};

/** With `verbose`: without the lists of earlier versions. Counts of 0 are omitted. */
const diskUsage = {
  ImageUsage: {
    ActiveCount: 1,
    Items: [image, untagged],
    Reclaimable: 8_213_251,
    TotalCount: 2,
    TotalSize: 12_000_000,
  },
  ContainerUsage: {
    ActiveCount: 1,
    Items: [{ ...containerSummary, SizeRootFs: 8_213_351, SizeRw: 100 }],
    TotalCount: 1,
    TotalSize: 100,
  },
  VolumeUsage: {
    Items: [{ ...volume, UsageData: { RefCount: 0, Size: 10_920_104 } }],
    Reclaimable: 10_920_104,
    TotalCount: 1,
    TotalSize: 10_920_104,
  },
  BuildCacheUsage: {},
};

const info = {
  ID: "5e0b0c5c-0a3a-4f7a-9a1a-0a0a0a0a0a0a",
  Containers: 1,
  ContainersRunning: 1,
  ContainersPaused: 0,
  ContainersStopped: 0,
  Images: 2,
  Driver: "overlayfs",
  DriverStatus: [["driver-type", "io.containerd.snapshotter.v1"]],
  CgroupDriver: "systemd",
  CgroupVersion: "2",
  KernelVersion: "6.12.48-generic",
  OperatingSystem: "Debian GNU/Linux 13 (trixie)",
  OSType: "linux",
  Architecture: "x86_64",
  NCPU: 2,
  MemTotal: 8_000_000_000,
  DockerRootDir: "/var/lib/docker",
  Name: "host-1",
  ServerVersion: "29.1.2",
  DefaultRuntime: "runc",
  LoggingDriver: "json-file",
  Swarm: { NodeID: "", LocalNodeState: "inactive", ControlAvailable: false, RemoteManagers: null },
  SecurityOptions: ["name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"],
  FirewallBackend: { Driver: "iptables" },
  DiscoveredDevices: [{ Source: "cdi", ID: "vendor.example/gpu=0" }],
  Containerd: { Address: "/run/containerd/containerd.sock" },
  Warnings: null,
};

const network = {
  Name: "bridge",
  Id: RECORDED.networkId,
  Created: "2026-01-01T00:00:00.1Z",
  Scope: "local",
  Driver: "bridge",
  EnableIPv4: true,
  EnableIPv6: false,
  IPAM: {
    Driver: "default",
    Options: null,
    Config: [{ Subnet: "172.17.0.0/16", IPRange: "", Gateway: "172.17.0.1" }],
  },
  Internal: false,
  Attachable: false,
  Ingress: false,
  ConfigFrom: { Network: "" },
  ConfigOnly: false,
  Options: {},
  Labels: {},
};

/** The answers by request, for a fake engine with API version 1.52. */
export const RECORDED_ANSWERS: Record<string, FakeAnswer> = Object.fromEntries(
  Object.entries({
    "GET /images/json": [image, untagged],
    "GET /images/*/json": imageInspect,
    "GET /images/*/history": [{
      Id: "<missing>",
      Created: 1_760_000_000,
      CreatedBy: 'CMD ["httpd" "-f"]',
      Tags: null,
      Size: 0,
      Comment: "buildkit.dockerfile.v0",
    }],
    "GET /containers/json": [containerSummary],
    "GET /containers/*/json": containerInspect,
    "GET /containers/*/stats": stats,
    "GET /system/df": diskUsage,
    "GET /info": info,
    "GET /networks": [network],
    "GET /networks/*": {
      ...network,
      Containers: {
        [RECORDED.containerId]: {
          Name: "web",
          EndpointID: "f".repeat(64),
          MacAddress: "9a:ec:af:8a:ac:81",
          IPv4Address: "172.17.0.4/16",
          IPv6Address: "",
        },
      },
      Status: {
        IPAM: { Subnets: { "172.17.0.0/16": { IPsInUse: 4, DynamicIPsAvailable: 65_532 } } },
      },
    },
    "GET /volumes": { Volumes: [volume], Warnings: null },
  }).map(([request, body]) => [request, () => Response.json(body)]),
);
