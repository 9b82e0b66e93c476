/**
 * An engine of any API version: it speaks the real protocol over a socket and keeps exactly the fields
 * of a container or network that the API of that version knows, as the public API documents of moby
 * list them. It runs nothing: what is started counts as running.
 *
 * @see https://github.com/moby/moby/tree/master/api/docs
 * @module
 */

import { type FakeEngine, fakeEngine, type FakeRequest } from "./fake_engine.ts";
import { isAtLeast } from "../../engine/query.ts";

/** Fields by name; `true` keeps all below, an object only these, `*` stands for any name. */
type Fields = true | { readonly [field: string]: Fields };

const fields = (names: string): Record<string, Fields> =>
  Object.fromEntries(names.trim().split(/\s+/).map((name) => [name, true as const]));

/** The body of `POST /containers/create` in API 1.41. */
const CONTAINER = {
  ...fields(
    `Hostname Domainname User AttachStdin AttachStdout AttachStderr ExposedPorts Tty OpenStdin
    StdinOnce Env Cmd ArgsEscaped Image Volumes WorkingDir Entrypoint NetworkDisabled MacAddress OnBuild
    Labels StopSignal StopTimeout Shell`,
  ),
  Healthcheck: fields("Test Interval Timeout StartPeriod Retries"),
};

const HOST = {
  ...fields(`CpuShares Memory CgroupParent BlkioWeight BlkioWeightDevice BlkioDeviceReadBps
    BlkioDeviceWriteBps BlkioDeviceReadIOps BlkioDeviceWriteIOps CpuPeriod CpuQuota CpuRealtimePeriod
    CpuRealtimeRuntime CpusetCpus CpusetMems Devices DeviceCgroupRules DeviceRequests KernelMemory
    KernelMemoryTCP MemoryReservation MemorySwap MemorySwappiness NanoCpus OomKillDisable Init PidsLimit
    Ulimits CpuCount CpuPercent IOMaximumIOps IOMaximumBandwidth Binds ContainerIDFile LogConfig
    NetworkMode PortBindings RestartPolicy AutoRemove VolumeDriver VolumesFrom CapAdd CapDrop CgroupnsMode
    Dns DnsOptions DnsSearch ExtraHosts GroupAdd IpcMode Cgroup Links OomScoreAdj PidMode Privileged
    PublishAllPorts ReadonlyRootfs SecurityOpt StorageOpt Tmpfs UTSMode UsernsMode ShmSize Sysctls Runtime
    ConsoleSize Isolation MaskedPaths ReadonlyPaths`),
};

const MOUNT = {
  ...fields("Target Source Type ReadOnly Consistency"),
  BindOptions: fields("Propagation NonRecursive"),
  VolumeOptions: fields("NoCopy Labels DriverConfig"),
  TmpfsOptions: fields("SizeBytes Mode"),
};

const ENDPOINT = fields("IPAMConfig Links Aliases DriverOpts");

const NETWORK = fields(
  "Name CheckDuplicate Driver Internal Attachable Ingress IPAM EnableIPv6 Options Labels",
);

/** Fields that the API versions since then added. */
function knownFields(version: string) {
  const since = (wanted: string, names: string) => isAtLeast(version, wanted) ? fields(names) : {};
  const mount = {
    ...MOUNT,
    BindOptions: {
      ...MOUNT.BindOptions,
      ...since("1.42", "CreateMountpoint"),
      ...since("1.44", "ReadOnlyNonRecursive ReadOnlyForceRecursive"),
    },
    VolumeOptions: { ...MOUNT.VolumeOptions, ...since("1.45", "Subpath") },
    ...(isAtLeast(version, "1.48") && { ImageOptions: fields("Subpath") }),
  };
  const endpoint = {
    ...ENDPOINT,
    ...since("1.44", "MacAddress"),
    ...since("1.48", "GwPriority"),
  };
  const container: Fields = {
    ...CONTAINER,
    Healthcheck: { ...CONTAINER.Healthcheck, ...since("1.44", "StartInterval") },
    HostConfig: { ...HOST, ...since("1.43", "Annotations"), Mounts: { "*": mount } },
    NetworkingConfig: { EndpointsConfig: { "*": endpoint } },
  };
  if (isAtLeast(version, "1.52")) delete (container as Record<string, Fields>).MacAddress;
  return { container, endpoint, network: { ...NETWORK, ...since("1.48", "EnableIPv4") } };
}

/** Keeps the known fields of a value; a list is a map from its positions. */
function keep(known: Fields, value: unknown): unknown {
  if (known === true || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => keep(known["*"]!, each));
  return Object.fromEntries(
    Object.entries(value).flatMap(([field, each]) => {
      const below = known[field] ?? known["*"];
      return below === undefined ? [] : [[field, keep(below, each)]];
    }),
  );
}

// deno-lint-ignore no-explicit-any
type Json = any;

const ok = (status: number) => new Response(null, { status });
const missing = (what: string) => Response.json({ message: `No such ${what}` }, { status: 404 });

/** The only image; its platform is that of the host. */
const IMAGE = {
  Id: `sha256:${"1".repeat(64)}`,
  Os: "linux",
  Architecture: "amd64",
  Config: { Env: ["PATH=/bin"], Cmd: ["sh"] },
};

/** Starts the engine. */
export function versionedEngine(apiVersion: string, info: object = {}): FakeEngine {
  const containers = new Map<string, Json>();
  const networks = new Map<string, Json>();
  const volumes = new Map<string, Json>();
  const known = knownFields(apiVersion);
  let made = 0;
  const newId = () => (++made).toString(16).padStart(64, "a");

  const find = (ref: string): Json =>
    containers.get(ref) ?? [...containers.values()].find(({ Name }) => Name === `/${ref}`);
  const onContainer =
    (act: (container: Json, request: FakeRequest) => Response) => (request: FakeRequest) => {
      const container = find(request.parts[0]!);
      return container ? act(container, request) : missing("container");
    };
  const join = (container: Json, name: string, endpoint: Json) => {
    const { Aliases, ...given } = endpoint ?? {};
    const shortId = container.Id.slice(0, 12);
    container.NetworkSettings.Networks[name] = {
      ...given,
      Aliases: [...Aliases ?? [], ...(isAtLeast(apiVersion, "1.45") ? [] : [shortId])],
      MacAddress: given.MacAddress ?? container.Config.MacAddress ?? "02:42:00:00:00:01",
      NetworkID: networks.get(name)?.Id ?? name,
    };
  };
  const create = ({ body, query }: FakeRequest): Response => {
    const { HostConfig, NetworkingConfig, ...Config } = keep(known.container, body) as Json;
    const Id = newId();
    const container: Json = {
      Id,
      Name: `/${query.get("name") ?? Id.slice(0, 12)}`,
      Image: IMAGE.Id,
      Created: new Date().toISOString(),
      RestartCount: 0,
      State: stateOf("created"),
      Config: { Hostname: Id.slice(0, 12), ...IMAGE.Config, ...withoutNull(Config) },
      HostConfig,
      Mounts: mountsOf(HostConfig),
      NetworkSettings: { Networks: {} },
    };
    container.Config.Env = [...IMAGE.Config.Env, ...Config.Env ?? []];
    const endpoints = NetworkingConfig?.EndpointsConfig ?? {};
    if (Object.keys(endpoints).length > 1 && !isAtLeast(apiVersion, "1.44")) {
      return Response.json({ message: "only one network" }, { status: 400 });
    }
    for (const [name, endpoint] of Object.entries(endpoints)) join(container, name, endpoint);
    containers.set(Id, container);
    return Response.json({ Id, Warnings: [] }, { status: 201 });
  };
  const start = (container: Json) => {
    container.State = stateOf("running", container.Config.Healthcheck);
    return ok(204);
  };
  const stop = (container: Json) => {
    container.State = stateOf("exited");
    return ok(204);
  };

  return fakeEngine({
    "GET /info": () =>
      Response.json({
        Name: "fake",
        NCPU: 2,
        MemTotal: 1e9,
        OSType: "linux",
        Architecture: "x86_64",
        LoggingDriver: "json-file",
        DefaultRuntime: "runc",
        Swarm: { LocalNodeState: "inactive" },
        ...info,
      }),
    "GET /version": () => Response.json({ Version: "1", ApiVersion: apiVersion }),
    "GET /events": () => new Response(new ReadableStream({})),
    "GET /images/*/json": () => Response.json(IMAGE),
    "GET /images/*/*/json": () => Response.json(IMAGE),
    "GET /images/json": () => Response.json([]),
    "GET /containers/json": ({ query }) => {
      const { label = [], name } = JSON.parse(query.get("filters") ?? "{}");
      const listed = [...containers.values()].filter(({ Name, Config }) =>
        label.every((each: string) => {
          const [key = "", ...value] = each.split("=");
          return Config.Labels?.[key] === value.join("=");
        }) && (!name || Name.includes(name))
      );
      return Response.json(listed.map(summaryOf));
    },
    "POST /containers/create": create,
    "GET /containers/*/json": onContainer((container) => Response.json(container)),
    "POST /containers/*/start": onContainer(start),
    "POST /containers/*/stop": onContainer(stop),
    "POST /containers/*/rename": onContainer((container, { query }) => {
      container.Name = `/${query.get("name")}`;
      return ok(204);
    }),
    "POST /containers/*/update": onContainer((container, { body }) => {
      Object.assign(container.HostConfig, body);
      return Response.json({ Warnings: [] });
    }),
    "PUT /containers/*/archive": onContainer(() => ok(200)),
    "DELETE /containers/*": onContainer((container) => {
      containers.delete(container.Id);
      return ok(204);
    }),
    "GET /networks": () => Response.json([...networks.values()]),
    "GET /networks/*": ({ parts: [name = ""] }) => {
      const found = networks.get(name);
      return found ? Response.json(found) : missing("network");
    },
    "POST /networks/create": ({ body }) => {
      const Id = newId();
      const { CheckDuplicate: _, ...settings } = keep(known.network, body) as Json;
      networks.set(settings.Name, { Driver: "bridge", Scope: "local", ...settings, Id });
      return Response.json({ Id }, { status: 201 });
    },
    "POST /networks/*/connect": ({ parts: [name = ""], body }) => {
      const endpoint = keep(known.endpoint, body.EndpointConfig ?? {}) as Json;
      // It is read, and has no effect before.
      if (!isAtLeast(apiVersion, "1.54")) delete endpoint.MacAddress;
      join(find(body.Container), name, endpoint);
      return ok(200);
    },
    "DELETE /networks/*": ({ parts: [id] }) => {
      for (const [name, { Id }] of networks) if (Id === id) networks.delete(name);
      return ok(204);
    },
    "GET /volumes": () => Response.json({ Volumes: [...volumes.values()] }),
    "GET /volumes/*": ({ parts: [name = ""] }) => {
      const found = volumes.get(name);
      return found ? Response.json(found) : missing("volume");
    },
    "POST /volumes/create": ({ body }) => {
      const { Name, Driver, DriverOpts, Labels } = body;
      const volume = {
        Name,
        Driver,
        Options: DriverOpts,
        Labels,
        Mountpoint: "/v",
        Scope: "local",
      };
      volumes.set(Name, volume);
      return Response.json(volume, { status: 201 });
    },
    "DELETE /volumes/*": ({ parts: [name] }) => ok(volumes.delete(name!) ? 204 : 404),
  }, { apiVersion });
}

function stateOf(Status: string, check?: { Test?: string[] }): object {
  const isRunning = Status === "running";
  const isChecked = (check?.Test?.length ?? 0) > 0 && check!.Test![0] !== "NONE";
  return {
    Status,
    Running: isRunning,
    Paused: false,
    Restarting: false,
    OOMKilled: false,
    Dead: false,
    Pid: isRunning ? 1 : 0,
    ExitCode: 0,
    Error: "",
    StartedAt: "2026-01-01T00:00:00Z",
    FinishedAt: "0001-01-01T00:00:00Z",
    ...(isRunning && isChecked && { Health: { Status: "healthy", FailingStreak: 0, Log: [] } }),
  };
}

/** The mounts as the engine describes them besides the requests. */
function mountsOf({ Binds, Mounts, Tmpfs: _ }: Json): object[] {
  const bound = (Binds ?? []).map((bind: string) => {
    const [Source, Destination, mode = ""] = bind.split(":");
    return { Type: "bind", Source, Destination, RW: !mode.split(",").includes("ro") };
  });
  const mounted = (Mounts ?? []).map(({ Type, Source, Target, ReadOnly }: Json) => ({
    Type,
    ...(Type === "volume" ? { Name: Source ?? "f".repeat(64) } : { Source: Source ?? "" }),
    Destination: Target,
    RW: !ReadOnly,
  }));
  return [...bound, ...mounted];
}

const withoutNull = (value: Json) =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));

const summaryOf = ({ Id, Name, Config, State, HostConfig, Mounts, NetworkSettings }: Json) => ({
  Id,
  Names: [Name],
  Image: Config.Image,
  ImageID: IMAGE.Id,
  Command: "",
  Created: 0,
  State: State.Status,
  Status: State.Running ? "Up 1 second" : "Exited (0) 1 second ago",
  Labels: Config.Labels ?? {},
  HostConfig: { NetworkMode: HostConfig.NetworkMode },
  NetworkSettings,
  Mounts,
});
