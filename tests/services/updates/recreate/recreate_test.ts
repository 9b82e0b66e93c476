import { deepEqual, equal } from "node:assert/strict";
import type {
  ContainerConfig,
  ContainerInspect,
  EndpointSettings,
  HostConfig,
  MountPoint,
} from "../../../../engine/containers.ts";
import {
  planRecreation,
  type RecreateOptions,
} from "../../../../services/updates/recreate/recreate.ts";

const ID = "0123456789abcdef".repeat(4);

interface Parts {
  config?: ContainerConfig;
  host?: HostConfig;
  mounts?: MountPoint[];
  networks?: Record<string, EndpointSettings>;
}

const container = ({ config = {}, host = {}, mounts = [], networks = {} }: Parts) =>
  ({
    Id: ID,
    Name: "/web",
    Image: "sha256:old",
    Config: { Hostname: ID.slice(0, 12), Image: "app:1", ...config },
    HostConfig: { NetworkMode: "default", ...host },
    Mounts: mounts,
    NetworkSettings: { Networks: networks },
  }) as ContainerInspect;

const of = (parts: Parts, options?: RecreateOptions) => planRecreation(container(parts), options);

Deno.test("what equals the image's configuration is left to the image", () => {
  const image: ContainerConfig = {
    User: "app",
    WorkingDir: "/app",
    StopSignal: "SIGQUIT",
    Env: ["PATH=/bin", "VERSION=1"],
    Labels: { vendor: "x", version: "1" },
    ExposedPorts: { "80/tcp": {} },
    Volumes: { "/data": {} },
    Healthcheck: { Test: ["CMD", "true"], Interval: 1e9 },
    Entrypoint: ["/run"],
    Cmd: ["serve"],
    OnBuild: ["RUN x"],
  };
  const { create } = of({
    config: {
      ...image,
      Env: ["OWN=1", "PATH=/bin", "VERSION=2"],
      Labels: { vendor: "x", version: "2", own: "y" },
      ExposedPorts: { "80/tcp": {}, "81/tcp": {} },
      Volumes: { "/data": {}, "/own": {} },
    },
  }, { image });
  deepEqual(create, {
    Image: "app:1",
    Env: ["OWN=1", "VERSION=2"],
    Labels: { version: "2", own: "y" },
    ExposedPorts: { "81/tcp": {} },
    Volumes: { "/own": {} },
    Healthcheck: null,
    Entrypoint: null,
    Cmd: null,
    HostConfig: { NetworkMode: "default", Binds: null, Mounts: null, Links: null },
  });
});

Deno.test("without the image's configuration everything is kept", () => {
  const config: ContainerConfig = {
    User: "app",
    WorkingDir: "/app",
    Env: ["PATH=/bin"],
    Labels: { a: "b" },
    ExposedPorts: { "80/tcp": {} },
    Volumes: {},
    Healthcheck: { Test: ["CMD", "true"] },
    Entrypoint: ["/run"],
    Cmd: ["serve"],
    Tty: true,
  };
  const { create } = of({ config });
  deepEqual(create, {
    ...config,
    Image: "app:1",
    HostConfig: { NetworkMode: "default", Binds: null, Mounts: null, Links: null },
  });
});

for (
  const { what, own, image, kept } of [
    {
      what: "both of the image",
      own: { Entrypoint: ["e"], Cmd: ["c"] },
      image: { Entrypoint: ["e"], Cmd: ["c"] },
      kept: { Entrypoint: null, Cmd: null },
    },
    {
      what: "an own command",
      own: { Entrypoint: ["e"], Cmd: ["own"] },
      image: { Entrypoint: ["e"], Cmd: ["c"] },
      kept: { Entrypoint: null, Cmd: ["own"] },
    },
    {
      what: "an own entrypoint without a command",
      own: { Entrypoint: ["own"], Cmd: null },
      image: { Entrypoint: ["e"], Cmd: ["c"] },
      kept: { Entrypoint: ["own"], Cmd: null },
    },
    {
      what: "an own entrypoint that is the image's, without its command",
      own: { Entrypoint: ["e"], Cmd: null },
      image: { Entrypoint: ["e"], Cmd: ["c"] },
      kept: { Entrypoint: ["e"], Cmd: null },
    },
    {
      what: "an own entrypoint with the image's command",
      own: { Entrypoint: ["own"], Cmd: ["c"] },
      image: { Entrypoint: ["e"], Cmd: ["c"] },
      kept: { Entrypoint: ["own"], Cmd: ["c"] },
    },
    {
      what: "an entrypoint that was taken off",
      own: { Entrypoint: null, Cmd: ["own"] },
      image: { Entrypoint: ["e"], Cmd: ["c"] },
      kept: { Entrypoint: [""], Cmd: ["own"] },
    },
    {
      what: "no entrypoint at all",
      own: { Entrypoint: null, Cmd: ["c"] },
      image: { Cmd: ["c"] },
      kept: { Entrypoint: null, Cmd: null },
    },
    {
      what: "neither in an image of nothing",
      own: { Entrypoint: [], Cmd: ["own"] },
      image: {},
      kept: { Entrypoint: null, Cmd: ["own"] },
    },
  ]
) {
  Deno.test(`entrypoint and command keep their meaning: ${what}`, () => {
    const { create: { Entrypoint, Cmd } } = of({ config: own }, { image });
    deepEqual({ Entrypoint, Cmd }, kept);
  });
}

Deno.test("of a health check only what the image does not say is pinned", () => {
  const image = { Healthcheck: { Test: ["CMD", "true"], Interval: 1e9, Retries: 3 } };
  const kept = (Healthcheck: ContainerConfig["Healthcheck"]) =>
    of({ config: { Healthcheck } as ContainerConfig }, { image }).create.Healthcheck;
  deepEqual(kept({ Test: ["CMD", "true"], Interval: 5e9, Retries: 3 }), { Interval: 5e9 });
  deepEqual(kept({ Test: ["NONE"] }), { Test: ["NONE"] });
  equal(kept({ ...image.Healthcheck }), null);
});

Deno.test("a host name is kept only where it was chosen", () => {
  const name = (config: ContainerConfig, host: HostConfig = {}) =>
    of({ config, host }).create.Hostname;
  equal(name({}), undefined);
  equal(name({ Hostname: "chosen" }), "chosen");
  equal(name({ Hostname: "chosen" }, { UTSMode: "host" }), undefined);
  equal(name({ Hostname: "peer" }, { NetworkMode: "container:peer" }), undefined);
  deepEqual(
    of({ config: { Env: [`HOSTNAME=${ID.slice(0, 12)}`, "HOSTNAME=own"] } }).create.Env,
    ["HOSTNAME=own"],
  );
});

Deno.test("volumes without a name are attached again by the engine's name for them", () => {
  const volume = (name: string, target: string, RW = true): MountPoint => ({
    Type: "volume",
    Name: name,
    Destination: target,
    RW,
  });
  const { create } = of({
    host: {
      Binds: ["named:/named:ro", "/host:/bound/", "/bare"],
      Mounts: [
        { Type: "volume", Target: "/asked/", VolumeOptions: { NoCopy: true } },
        { Type: "volume", Source: "chosen", Target: "/chosen" },
        { Type: "bind", Source: "/x", Target: "/y" },
      ],
      Tmpfs: { "/ram": "" },
    },
    mounts: [
      volume("named", "/named", false),
      { Type: "bind", Source: "/host", Destination: "/bound", RW: true },
      volume("bare", "/bare"),
      volume("asked", "/asked"),
      volume("chosen", "/chosen"),
      volume("image", "/image"),
      volume("others", "/others", false),
      { Type: "tmpfs", Destination: "/ram" },
    ],
  });
  deepEqual(create.HostConfig?.Binds, ["named:/named:ro", "/host:/bound/"]);
  deepEqual(create.HostConfig?.Mounts, [
    { Type: "volume", Target: "/asked/", VolumeOptions: { NoCopy: true }, Source: "asked" },
    { Type: "volume", Source: "chosen", Target: "/chosen" },
    { Type: "bind", Source: "/x", Target: "/y" },
    { Type: "volume", Source: "bare", Target: "/bare", ReadOnly: false },
    { Type: "volume", Source: "image", Target: "/image", ReadOnly: false },
    { Type: "volume", Source: "others", Target: "/others", ReadOnly: true },
  ]);
});

Deno.test("networks are asked for as they were, without what came out of it", () => {
  const came = {
    NetworkID: "n1",
    EndpointID: "e1",
    Gateway: "10.0.0.1",
    IPAddress: "10.0.0.9",
    IPPrefixLen: 24,
    MacAddress: "02:00:00:00:00:01",
    DNSNames: ["web", "0123456789ab"],
  };
  const { create, connect, disconnect } = of({
    host: { NetworkMode: "front" },
    networks: {
      back: { ...came, Aliases: ["0123456789ab", "b"], Links: ["db:sql"], IPAMConfig: null },
      front: {
        ...came,
        Aliases: ["0123456789ab"],
        IPAMConfig: { IPv4Address: "10.0.0.9" },
        DriverOpts: { a: "b" },
      },
      side: { ...came, IPAMConfig: {}, Aliases: null, DriverOpts: {}, GwPriority: 7 },
    },
  });
  deepEqual(create.NetworkingConfig, {
    EndpointsConfig: { front: { IPAMConfig: { IPv4Address: "10.0.0.9" }, DriverOpts: { a: "b" } } },
  });
  deepEqual(connect, [
    { network: "back", endpoint: { Links: ["db:sql"], Aliases: ["b"] } },
    { network: "side", endpoint: { GwPriority: 7 } },
  ]);
  deepEqual(disconnect, []);
});

Deno.test("the network of the mode is known by name and by id, and left where it had been", () => {
  const networks = { front: { NetworkID: "abc" }, back: { NetworkID: "def" } };
  const byId = of({ host: { NetworkMode: "def" }, networks });
  deepEqual(Object.keys(byId.create.NetworkingConfig!.EndpointsConfig!), ["back"]);
  deepEqual(byId.connect.map(({ network }) => network), ["front"]);

  const left = of({ networks });
  equal(left.create.NetworkingConfig, undefined);
  deepEqual(left.connect.map(({ network }) => network), ["front", "back"]);
  deepEqual(left.disconnect, ["bridge"]);

  for (const NetworkMode of ["host", "none", "container:abc"]) {
    const none = of({ host: { NetworkMode }, networks: { [NetworkMode]: {} } });
    deepEqual([none.create.NetworkingConfig, none.connect, none.disconnect], [undefined, [], []]);
  }
});

Deno.test("a fixed hardware address goes where the engine's version takes it", () => {
  const parts = { config: { MacAddress: "02:00:00:00:00:01" }, networks: { bridge: {} } };
  const old = of(parts, { apiVersion: "1.43" }).create;
  equal(old.MacAddress, "02:00:00:00:00:01");
  deepEqual(old.NetworkingConfig, { EndpointsConfig: { bridge: {} } });
  const now = of(parts, { apiVersion: "1.44" }).create;
  equal(now.MacAddress, undefined);
  deepEqual(now.NetworkingConfig, {
    EndpointsConfig: { bridge: { MacAddress: "02:00:00:00:00:01" } },
  });
});

Deno.test("settings of a shared network are left out", () => {
  const { create } = of({
    config: { ExposedPorts: { "80/tcp": {} }, Domainname: "x", MacAddress: "02:00:00:00:00:01" },
    host: { NetworkMode: "container:old", IpcMode: "container:old", PidMode: "container:other" },
  }, { successors: new Map([["old", "new"]]) });
  deepEqual(
    ["ExposedPorts", "Domainname", "MacAddress", "Hostname"].filter((field) => field in create),
    [],
  );
  deepEqual(
    [create.HostConfig?.NetworkMode, create.HostConfig?.IpcMode, create.HostConfig?.PidMode],
    ["container:new", "container:new", "container:other"],
  );
});

Deno.test("links are converted to the form of requests", () => {
  deepEqual(of({ host: { Links: ["/db:/web/sql", "/a_b:/web/c"] } }).create.HostConfig?.Links, [
    "db:sql",
    "a_b:c",
  ]);
});

Deno.test("unknown fields are kept", () => {
  const { create } = of({
    config: { Future: 1 },
    host: { DeviceRequests: [{ Count: -1 }], Later: { a: [1] }, ContainerIDFile: "/tmp/id" },
  }, { reference: "app:2" });
  equal(create.Future, 1);
  equal(create.Image, "app:2");
  deepEqual(create.HostConfig, {
    NetworkMode: "default",
    DeviceRequests: [{ Count: -1 }],
    Later: { a: [1] },
    Binds: null,
    Mounts: null,
    Links: null,
  });
});

Deno.test("limits that Podman describes get the names of requests; its own defaults are left to it", () => {
  const ulimits = (...list: [name: string, soft: number, hard?: number][]) =>
    of({
      host: { Ulimits: list.map(([Name, Soft, Hard = Soft]) => ({ Name, Soft, Hard })) },
    }).create.HostConfig?.Ulimits?.map(({ Name, Soft, Hard }) => [Name, Soft, Hard]);

  deepEqual(ulimits(["RLIMIT_NOFILE", 1_048_576], ["RLIMIT_NPROC", 32_768]), []);
  deepEqual(ulimits(["RLIMIT_NOFILE", 100, 200], ["RLIMIT_NPROC", 1_048_576]), [
    ["nofile", 100, 200],
    ["nproc", 1_048_576, 1_048_576],
  ]);
  deepEqual(ulimits(["RLIMIT_CORE", 0]), [["core", 0, 0]]);
  // Docker's, which has no defaults of its own.
  deepEqual(ulimits(["nofile", 1_048_576]), [["nofile", 1_048_576, 1_048_576]]);
});

Deno.test("a limit of processors that Podman describes twice is requested once", () => {
  const cpu = (host: HostConfig) => {
    const { NanoCpus, CpuPeriod, CpuQuota } = of({ host }).create.HostConfig!;
    return [NanoCpus, CpuPeriod, CpuQuota];
  };

  deepEqual(cpu({ NanoCpus: 5e8, CpuPeriod: 100_000, CpuQuota: 50_000 }), [5e8, 0, 0]);
  deepEqual(cpu({ NanoCpus: 5e8, CpuPeriod: 50_000, CpuQuota: 25_000 }), [0, 50_000, 25_000]);
  deepEqual(cpu({ NanoCpus: 5e8 }), [5e8, undefined, undefined]);
  deepEqual(cpu({ NanoCpus: 0, CpuPeriod: 0, CpuQuota: 25_000 }), [0, 0, 25_000]);
});
