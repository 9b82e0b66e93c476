/**
 * Every key of Compose files with a value, and where an engine's description has it. `missingCases()`
 * compares this table with the loader's own keys, so that a new key needs a case.
 *
 * @module
 */

import type { ContainerInspect } from "../../engine/containers.ts";
import { listComposeKeys } from "../../services/compose/load/completion.ts";
import { BUSYBOX } from "./real_engine.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** One setting, or some that belong together. */
export interface SettingCase {
  /** Services with the same name are one. */
  service: string;
  /** The part of the service. */
  value: Record<string, unknown>;
  /** Parts of the description: a text is contained, all others are equal. */
  is: object | ((inspect: ContainerInspect, project: string) => boolean);
}

/** Differences between the engines that the cases depend on. */
export interface Surroundings {
  /** Below the control group of the engine. */
  cgroupParent?: string;
}

/** Runs until it is stopped, and ends at once then. */
const LOOP = "trap 'exit 0' TERM USR1; sleep 1000 & wait";

const MAC = "02:42:ac:11:99:";

const endpointsOf = ({ NetworkSettings }: ContainerInspect) =>
  Object.values(NetworkSettings.Networks ?? {}) as Json[];

const hasMac = (mac: string) => (inspect: ContainerInspect) =>
  [inspect.Config.MacAddress, ...endpointsOf(inspect).map(({ MacAddress }) => MacAddress)]
    .some((each) => each?.toLowerCase() === mac);

const onNetwork = (network: string, is: object) => (inspect: ContainerInspect, project: string) =>
  contains(inspect.NetworkSettings.Networks?.[`${project}_${network}`], is);

const mount = (Target: string, is: object) => ({ HostConfig: { Mounts: [{ Target, ...is }] } });

const volumeAt = (target: string, value: object) => ({
  volumes: [{ type: "volume", source: "data", target, ...value }],
});

const always = () => true;

export function settingCases(
  { cgroupParent = "/longshore-test" }: Surroundings = {},
): SettingCase[] {
  const on = (service: string, list: readonly [Record<string, unknown>, SettingCase["is"]][]) =>
    list.map(([value, is]): SettingCase => ({ service, value, is }));
  return [
    ...on("main", [
      [{ image: BUSYBOX }, { Config: { Image: BUSYBOX } }],
      [{ entrypoint: ["sh", "-c"] }, { Config: { Entrypoint: ["sh", "-c"] } }],
      [{ command: [LOOP] }, { Config: { Cmd: [LOOP] } }],
      [{ annotations: { note: "x" } }, { HostConfig: { Annotations: { note: "x" } } }],
      [{ cap_add: ["NET_ADMIN"] }, { HostConfig: { CapAdd: ["NET_ADMIN"] } }],
      [{ cap_drop: ["MKNOD"] }, { HostConfig: { CapDrop: ["MKNOD"] } }],
      [{ cgroup: "private" }, { HostConfig: { CgroupnsMode: "private" } }],
      [{ cpu_count: 1 }, { HostConfig: { CpuCount: 1 } }],
      [{ cpu_percent: 50 }, { HostConfig: { CpuPercent: 50 } }],
      [{ cpu_shares: 512 }, { HostConfig: { CpuShares: 512 } }],
      [{ cpuset: "0" }, { HostConfig: { CpusetCpus: "0" } }],
      [{ cpus: 0.5 }, { HostConfig: { NanoCpus: 5e8 } }],
      [{ device_cgroup_rules: ["c 1:3 r"] }, { HostConfig: { DeviceCgroupRules: ["c 1:3 r"] } }],
      [{ devices: ["/dev/zero:/dev/nothing:r"] }, {
        HostConfig: { Devices: [{ PathOnHost: "/dev/zero", PathInContainer: "/dev/nothing" }] },
      }],
      [{ dns: ["192.0.2.1"] }, { HostConfig: { Dns: ["192.0.2.1"] } }],
      [{ dns_opt: ["ndots:2"] }, { HostConfig: { DnsOptions: ["ndots:2"] } }],
      [{ dns_search: ["example.org"] }, { HostConfig: { DnsSearch: ["example.org"] } }],
      [{ domainname: "example.org" }, { Config: { Domainname: "example.org" } }],
      [{ environment: { A: "1" } }, { Config: { Env: ["A=1"] } }],
      [{ expose: ["81"] }, { Config: { ExposedPorts: { "81/tcp": {} } } }],
      [{ extra_hosts: ["db:192.0.2.7"] }, { HostConfig: { ExtraHosts: ["db:192.0.2.7"] } }],
      [{ group_add: ["10"] }, { HostConfig: { GroupAdd: ["10"] } }],
      [{ hostname: "box" }, { Config: { Hostname: "box" } }],
      [{ labels: { tier: "db" } }, { Config: { Labels: { tier: "db" } } }],
      [{ logging: { driver: "json-file", options: { "max-size": "1m" } } }, {
        HostConfig: { LogConfig: { Type: "json-file", Config: { "max-size": "1m" } } },
      }],
      [{ mac_address: `${MAC}01` }, hasMac(`${MAC}01`)],
      [{ mem_limit: "64m" }, { HostConfig: { Memory: 64 * 1024 ** 2 } }],
      [{ mem_reservation: "32m" }, { HostConfig: { MemoryReservation: 32 * 1024 ** 2 } }],
      [{ mem_swappiness: 10 }, { HostConfig: { MemorySwappiness: 10 } }],
      [{ memswap_limit: "128m" }, { HostConfig: { MemorySwap: 128 * 1024 ** 2 } }],
      [{ oom_score_adj: 100 }, { HostConfig: { OomScoreAdj: 100 } }],
      [{ pids_limit: 50 }, { HostConfig: { PidsLimit: 50 } }],
      [{ platform: `linux/${Deno.build.arch}` }, always],
      [{ restart: "on-failure:2" }, {
        HostConfig: { RestartPolicy: { Name: "on-failure", MaximumRetryCount: 2 } },
      }],
      [{ security_opt: ["no-new-privileges"] }, {
        HostConfig: { SecurityOpt: ["no-new-privileges"] },
      }],
      [{ shm_size: "16m" }, { HostConfig: { ShmSize: 16 * 1024 ** 2 } }],
      [{ stdin_open: true }, { Config: { OpenStdin: true } }],
      [{ stop_grace_period: "3s" }, { Config: { StopTimeout: 3 } }],
      [{ stop_signal: "SIGUSR1" }, ({ Config }) => ["SIGUSR1", "10"].includes(Config.StopSignal!)],
      [{ sysctls: { "net.core.somaxconn": "256" } }, {
        HostConfig: { Sysctls: { "net.core.somaxconn": "256" } },
      }],
      [{ tmpfs: ["/scratch:size=1m"] }, { HostConfig: { Tmpfs: { "/scratch": "size=1m" } } }],
      [{ tty: true }, { Config: { Tty: true } }],
      [{ ulimits: { nofile: { soft: 100, hard: 200 }, nproc: 1000 } }, {
        HostConfig: {},
      }],
      [{ user: "0:0" }, { Config: { User: "0:0" } }],
      [{ working_dir: "/tmp" }, { Config: { WorkingDir: "/tmp" } }],
      [{ volumes: ["anonymous:/anonymous"] }, always],
      [{
        ports: [{
          target: 80,
          published: "18473",
          host_ip: "127.0.0.1",
          protocol: "tcp",
          mode: "host",
          name: "web",
          app_protocol: "http",
        }],
      }, {
        HostConfig: { PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "18473" }] } },
      }],
    ]),
    ...on("named", [
      [{ container_name: "longshore-test-named" }, { Name: "longshore-test-named" }],
      [{ read_only: true }, { HostConfig: { ReadonlyRootfs: true } }],
      [
        { links: ["main:alias"] },
        (inspect) =>
          endpointsOf(inspect).some(({ Links }) =>
            Links?.some((link: string) => /:alias$/.test(link))
          ),
      ],
      [{ depends_on: { main: { condition: "service_started", restart: true, required: true } } }, {
        Config: { Labels: { "com.docker.compose.depends_on": "main:service_started:true" } },
      }],
    ]),
    ...on("host", [
      [{ network_mode: "host" }, { HostConfig: { NetworkMode: "host" } }],
      [{ ipc: "host" }, { HostConfig: { IpcMode: "host" } }],
      [{ pid: "host" }, { HostConfig: { PidMode: "host" } }],
      [{ uts: "host" }, { HostConfig: { UTSMode: "host" } }],
    ]),
    ...on("privileged", [[{ privileged: true }, { HostConfig: { Privileged: true } }]]),
    ...on("users", [[{ userns_mode: "host" }, { HostConfig: { UsernsMode: "host" } }]]),
    ...on("quota", [
      [{ cpu_period: "50ms", cpu_quota: "20ms" }, {
        HostConfig: { CpuPeriod: 50_000, CpuQuota: 20_000 },
      }],
      [{ volumes_from: ["main:ro"] }, { HostConfig: { VolumesFrom: [":ro"] } }],
    ]),
    ...on("realtime", [[{ cpu_rt_period: "1s", cpu_rt_runtime: "1ms" }, {
      HostConfig: { CpuRealtimePeriod: 1_000_000, CpuRealtimeRuntime: 1_000 },
    }]]),
    ...on("parent", [[{ cgroup_parent: cgroupParent }, {
      HostConfig: { CgroupParent: cgroupParent },
    }]]),
    ...on("blkio", [[{
      blkio_config: {
        weight: 300,
        weight_device: [{ path: "/dev/zero", weight: 400 }],
        device_read_bps: [{ path: "/dev/zero", rate: "1m" }],
        device_read_iops: [{ path: "/dev/zero", rate: 100 }],
        device_write_bps: [{ path: "/dev/zero", rate: "2m" }],
        device_write_iops: [{ path: "/dev/zero", rate: 200 }],
      },
    }, {
      HostConfig: {
        BlkioWeight: 300,
        BlkioWeightDevice: [{ Path: "/dev/zero", Weight: 400 }],
        BlkioDeviceReadBps: [{ Path: "/dev/zero", Rate: 1024 ** 2 }],
        BlkioDeviceReadIOps: [{ Path: "/dev/zero", Rate: 100 }],
        BlkioDeviceWriteBps: [{ Path: "/dev/zero", Rate: 2 * 1024 ** 2 }],
        BlkioDeviceWriteIOps: [{ Path: "/dev/zero", Rate: 200 }],
      },
    }]]),
    ...on("nvidia", [[{
      gpus: [{
        capabilities: ["gpu"],
        driver: "nvidia",
        device_ids: ["0"],
        options: { virtualization: "false" },
      }],
    }, { HostConfig: { DeviceRequests: [{ Driver: "nvidia", DeviceIDs: ["0"] }] } }]]),
    ...on("gpus", [[{ gpus: [{ count: 1 }] }, { HostConfig: { DeviceRequests: [{ Count: 1 }] } }]]),
    ...on("cdi", [[{ devices: ["example.org/gpu=0"] }, {
      HostConfig: { DeviceRequests: [{ Driver: "cdi", DeviceIDs: ["example.org/gpu=0"] }] },
    }]]),
    ...on("init", [[{ init: true }, { HostConfig: { Init: true } }]]),
    ...on("isolated", [[{ isolation: "process" }, { HostConfig: { Isolation: "process" } }]]),
    ...on("killed", [[{ oom_kill_disable: true }, { HostConfig: { OomKillDisable: true } }]]),
    ...on("runtime", [[{ runtime: "runc" }, { HostConfig: { Runtime: "runc" } }]]),
    ...on("storage", [[{ storage_opt: { size: "1g" } }, {
      HostConfig: { StorageOpt: { size: "1g" } },
    }]]),
    ...on("checked", [[{
      healthcheck: {
        test: ["CMD", "true"],
        interval: "1s",
        timeout: "5s",
        start_period: "2s",
        retries: 4,
      },
    }, {
      Config: {
        Healthcheck: {
          Test: ["CMD", "true"],
          Interval: 1e9,
          Timeout: 5e9,
          StartPeriod: 2e9,
          Retries: 4,
        },
      },
    }], [{ healthcheck: { start_interval: "1s" } }, {
      Config: { Healthcheck: { StartInterval: 1e9 } },
    }]]),
    ...on("unchecked", [[{ healthcheck: { disable: true } }, {
      Config: { Healthcheck: { Test: ["NONE"] } },
    }]]),
    ...on("joined", [
      [
        {
          networks: {
            front: {
              aliases: ["www"],
              ipv4_address: "10.84.0.140",
              ipv6_address: "fd84::20",
              priority: 5,
              driver_opts: { "org.example.option": "1" },
            },
          },
        },
        onNetwork("front", {
          Aliases: ["www"],
          IPAMConfig: { IPv4Address: "10.84.0.140", IPv6Address: "fd84::20" },
          DriverOpts: { "org.example.option": "1" },
        }),
      ],
      [{ networks: { back: { gw_priority: 7 } } }, onNetwork("back", { GwPriority: 7 })],
      [{ networks: { back: { mac_address: `${MAC}02` } } }, hasMac(`${MAC}02`)],
    ]),
    ...on("local", [[
      { networks: { front: { link_local_ips: ["169.254.9.9"] } } },
      onNetwork("front", { IPAMConfig: { LinkLocalIPs: ["169.254.9.9"] } }),
    ]]),
    ...on("mounts", [
      [{
        volumes: [{
          type: "bind",
          source: "/etc",
          target: "/bound",
          read_only: true,
          consistency: "consistent",
          bind: { propagation: "private", create_host_path: false },
        }],
      }, mount("/bound", { Source: "/etc", BindOptions: { Propagation: "private" } })],
      [{
        volumes: [{
          type: "bind",
          source: "/etc",
          target: "/short",
          bind: { create_host_path: true, selinux: "z" },
        }],
      }, { HostConfig: { Binds: ["/etc:/short:rw,z"] } }],
      [
        volumeAt("/data", { volume: { nocopy: true, labels: { a: "b" } } }),
        mount("/data", { VolumeOptions: { NoCopy: true } }),
      ],
      [
        { volumes: [{ type: "tmpfs", target: "/memory", tmpfs: { size: "1m", mode: 0o700 } }] },
        mount("/memory", { TmpfsOptions: { SizeBytes: 1024 ** 2 } }),
      ],
    ]),
    ...["readonly", "writable"].flatMap((recursive) =>
      on(`recursive-${recursive}`, [[
        {
          volumes: [{
            type: "bind",
            source: "/etc",
            target: "/bound",
            read_only: true,
            bind: { recursive, ...(recursive === "readonly" && { propagation: "rprivate" }) },
          }],
        },
        mount("/bound", {
          BindOptions: recursive === "readonly"
            ? { ReadOnlyForceRecursive: true }
            : { ReadOnlyNonRecursive: true },
        }),
      ]])
    ),
    ...on("subpath", [[
      volumeAt("/sub", { volume: { subpath: "sub" } }),
      mount("/sub", { VolumeOptions: { Subpath: "sub" } }),
    ]]),
    ...on("image", [[{
      volumes: [{ type: "image", source: BUSYBOX, target: "/image", image: { subpath: "bin" } }],
    }, mount("/image", { Type: "image", ImageOptions: { Subpath: "bin" } })]]),
    ...on("deployed", [
      [{ deploy: { resources: { limits: { cpus: "0.25", memory: "32m", pids: 20 } } } }, {
        HostConfig: { NanoCpus: 2.5e8, Memory: 32 * 1024 ** 2, PidsLimit: 20 },
      }],
      [{ deploy: { resources: { reservations: { memory: "16m" } } } }, {
        HostConfig: { MemoryReservation: 16 * 1024 ** 2 },
      }],
      [{ deploy: { restart_policy: { condition: "on-failure", max_attempts: 3 } } }, {
        HostConfig: { RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 } },
      }],
    ]),
    ...on("reserved", [[{
      deploy: {
        resources: {
          reservations: {
            devices: [{ capabilities: ["gpu"], count: 1, driver: "nvidia", options: { a: "b" } }],
          },
        },
      },
    }, { HostConfig: { DeviceRequests: [{ Driver: "nvidia", Count: 1, Options: { a: "b" } }] } }]]),
    ...on("reserved-id", [[{
      deploy: {
        resources: { reservations: { devices: [{ capabilities: ["gpu"], device_ids: ["0"] }] } },
      },
    }, { HostConfig: { DeviceRequests: [{ DeviceIDs: ["0"] }] } }]]),
  ];
}

/** Networks of the project, and their descriptions. */
export const NETWORKS: Readonly<Record<string, { value: object; is: object }>> = {
  front: {
    value: {
      driver: "bridge",
      driver_opts: { "com.docker.network.bridge.enable_icc": "true" },
      attachable: true,
      enable_ipv6: true,
      labels: { tier: "front" },
      ipam: {
        driver: "default",
        config: [{
          subnet: "10.84.0.0/24",
          gateway: "10.84.0.1",
          ip_range: "10.84.0.128/25",
          aux_addresses: { printer: "10.84.0.200" },
        }, { subnet: "fd84::/64" }],
      },
    },
    is: {
      Driver: "bridge",
      Options: { "com.docker.network.bridge.enable_icc": "true" },
      Attachable: true,
      EnableIPv6: true,
      Labels: { tier: "front" },
      IPAM: {
        Config: [{ Subnet: "10.84.0.0/24", Gateway: "10.84.0.1", IPRange: "10.84.0.128/25" }],
      },
    },
  },
  back: { value: { internal: true }, is: { Internal: true } },
};

/** A network that older engines cannot create. */
export const NETWORK_WITHOUT_IPV4 = {
  enable_ipv4: false,
  enable_ipv6: true,
  ipam: { config: [{ subnet: "fd85::/64" }] },
};

export const VOLUMES = {
  data: {
    driver: "local",
    driver_opts: { type: "tmpfs", device: "tmpfs", o: "nodev" },
    labels: { tier: "data" },
  },
  anonymous: {},
};

/** Keys that no description of a container, network or volume can have. */
const ELSEWHERE: readonly RegExp[] = [
  // The loader resolves them.
  /^(?:include|version|name|configs|secrets|networks|volumes|services)$/,
  /^include\./,
  /\.external(?:\.|$)/,
  /^(?:networks|volumes)\.\*\.name$/,
  /^services\.\*\.(?:env_file|extends|label_file|profiles)(?:\.|$)/,
  // They are in the files that a deploy copies; tests of deploys read these.
  /^(?:configs|secrets)\.\*/,
  /^services\.\*\.(?:configs|secrets)(?:\.|$)/,
  // They decide what a deploy does, not what a container is.
  /^services\.\*\.(?:build|develop|models|provider|pull_policy|scale|post_start|pre_stop)(?:\.|$)/,
  /^services\.\*\.deploy\.replicas$/,
  // They need a container of another project.
  /^services\.\*\.external_links$/,
  // Only a swarm has them; the loader warns.
  /^services\.\*\.deploy\.(?:endpoint_mode|labels|mode|placement|rollback_config|update_config)(?:\.|$)/,
  /^services\.\*\.deploy\.restart_policy\.(?:delay|window)$/,
  /^services\.\*\.deploy\.resources\.reservations\.(?:cpus|pids|generic_resources)(?:\.|$)/,
  // All limits are sent in the same way.
  /^services\.\*\.ulimits\.(?!nofile|nproc)/,
  /^services\.\*\.ulimits\.nproc\./,
  // Options of drivers that are not installed.
  /^networks\.\*\.ipam\.options$/,
];

/** Keys of the loader without a case. */
export function missingCases(): string[] {
  const { keys } = listComposeKeys();
  const known = new Set(
    Object.entries(keys).flatMap(([path, names]) =>
      names.map((name) => path === "" ? name : `${path}.${name}`)
    ),
  );
  const covered = new Set<string>();
  const cover = (value: unknown, path: string): void => {
    if (Array.isArray(value)) return value.forEach((each) => cover(each, path));
    if (typeof value !== "object" || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      const own = `${path}.${key}`;
      const next = known.has(own) ? own : `${path}.*`;
      covered.add(next);
      cover(each, next);
    }
  };
  for (const { value } of settingCases()) cover(value, "services.*");
  for (const network of Object.values(NETWORKS)) cover(network.value, "networks.*");
  cover(NETWORK_WITHOUT_IPV4, "networks.*");
  for (const volume of Object.values(VOLUMES)) cover(volume, "volumes.*");
  return [...known].filter((path) =>
    !covered.has(path) && !ELSEWHERE.some((pattern) => pattern.test(path))
  ).sort();
}

/** Whether a description has all of the expected parts. */
export function contains(found: Json, expected: Json): boolean {
  if (Array.isArray(expected)) {
    return Array.isArray(found) &&
      expected.every((each) => found.some((other) => contains(other, each)));
  }
  if (typeof expected === "object" && expected !== null) {
    return typeof found === "object" && found !== null &&
      Object.entries(expected).every(([key, each]) => contains(found[key], each));
  }
  if (typeof expected === "string") return typeof found === "string" && found.includes(expected);
  return found === expected;
}

/** The services of cases, each with what it needs to run. */
export function servicesOf(cases: readonly SettingCase[]): Record<string, Json> {
  const services: Record<string, Json> = {};
  for (const { service, value } of cases) {
    const own = services[service] ??= { image: BUSYBOX, command: ["sh", "-c", LOOP] };
    merge(own, structuredClone(value));
  }
  return services;
}

function merge(into: Json, value: Json): void {
  for (const [key, each] of Object.entries(value) as [string, Json][]) {
    if (key === "volumes" && Array.isArray(into[key])) into[key].push(...each);
    else if (typeof each === "object" && each !== null && !Array.isArray(each)) {
      merge(into[key] ??= {}, each);
    } else into[key] = each;
  }
}

/** Paths of a case, e.g. `networks.back.gw_priority`, of which one names the setting. */
export function namesOf({ value }: Pick<SettingCase, "value">): string[] {
  const names: string[] = [];
  const add = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(add);
    if (typeof part !== "object" || part === null) return;
    for (const [key, each] of Object.entries(part)) {
      names.push(key);
      add(each);
    }
  };
  add(value);
  return names;
}
