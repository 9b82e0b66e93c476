import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { ContainerConfig, ContainerInspect } from "../../../../engine/containers.ts";
import type { Network } from "../../../../engine/networks.ts";
import type { Volume } from "../../../../engine/volumes.ts";
import { loadProject } from "../../../../services/compose/load/load.ts";
import type { PlanOptions } from "../../../../services/compose/plan/options.ts";
import { networkHash } from "../../../../services/compose/plan/network_changes.ts";
import { isForPlatform, parsePlatform } from "../../../../services/compose/plan/platform.ts";
import { replicasOf } from "../../../../services/compose/plan/replicas.ts";
import type { Observed } from "../../../../services/compose/plan/observed.ts";
import { planProject } from "../../../../services/compose/plan/plan.ts";
import { containerOf, idOf } from "../../../helpers/fake_containers.ts";

/** A container of the project `shop`, as the engine describes it. */
const container = (
  service: string,
  change: { config?: object; running?: boolean; exitCode?: number; name?: string } = {},
) =>
  ({
    Id: "c".repeat(64),
    Image: "sha256:old",
    Name: `/${change.name ?? `shop-${service}-1`}`,
    State: {
      Running: change.running ?? true,
      Status: change.running === false ? "exited" : "running",
      ExitCode: change.exitCode ?? 0,
    },
    Config: {
      Image: "nginx",
      Env: ["PATH=/bin", "TOKEN=t0ken"],
      Labels: {
        "com.docker.compose.service": service,
        "com.docker.compose.container-number": "1",
      },
      ...change.config,
    },
    HostConfig: { NetworkMode: "shop_default" },
    Mounts: [],
    NetworkSettings: { Networks: { shop_default: {} } },
  }) as unknown as ContainerInspect;

const TOKEN = "image: nginx, environment: [TOKEN=t0ken]";

type Planned = Awaited<ReturnType<typeof plan>>;

async function plan(
  services: string,
  observed: Partial<Observed> = {},
  options: PlanOptions = {},
) {
  const { project, errors } = await loadProject({
    compose: `services: {${services}}`,
    name: "shop",
  });
  deepEqual(errors, []);
  return planProject(project!, {
    containers: [],
    images: new Map([["sha256:old", { Env: ["PATH=/bin"] }]]),
    imageIds: new Map([["nginx", "sha256:old"], ["nginx:latest", "sha256:old"]]),
    networks: new Set(["shop_default"]),
    volumes: new Set(),
    ...observed,
  }, options);
}

const ofService = ({ changes }: Awaited<ReturnType<typeof plan>>, name: string) =>
  changes.find((change) => change.kind === "service" && change.name === name);

Deno.test("planProject() plans nothing for equal settings, whatever their form", async () => {
  const { changes, warnings } = await plan(
    "web: {image: 'nginx:latest', environment: [TOKEN=t0ken]}",
    {
      containers: [container("web")],
    },
  );

  deepEqual(changes.map(({ action }) => action), ["none", "none"]);
  deepEqual(warnings, []);
});

Deno.test("planProject() names changed variables, but never shows their values", async () => {
  const planned = await plan("web: {image: nginx, environment: [TOKEN=n3w]}", {
    containers: [container("web")],
  });

  deepEqual(ofService(planned, "web"), {
    kind: "service",
    name: "web",
    action: "recreate",
    reasons: [{
      path: "environment.TOKEN",
      from: "(changed)",
      to: "(changed)",
      text: "environment: TOKEN changed",
    }],
  });
  ok(!/t0ken|n3w/.test(JSON.stringify(planned)));
});

Deno.test("planProject() recreates for another image, and for a newer one of the same name", async () => {
  const containers = [container("web", { config: { Env: [] } })];
  const reasons = async (image: string, id: string) =>
    ofService(
      await plan(`web: {image: '${image}'}`, { containers, imageIds: new Map([[image, id]]) }),
      "web",
    )
      ?.reasons.map(({ text }) => text);

  deepEqual(await reasons("nginx:1.27", "sha256:other"), [
    "image changed from nginx to nginx:1.27",
  ]);
  deepEqual(await reasons("nginx", "sha256:new"), ["nginx has a newer image here"]);
});

const actionsOf = ({ changes }: Awaited<ReturnType<typeof plan>>) =>
  changes.map(({ kind, name, action }) => `${kind} ${name} ${action}`);

Deno.test("planProject() starts what is stopped, creates what is missing and removes orphans", async () => {
  const containers = [container("web", { running: false }), container("old")];
  const services = "web: {image: nginx, environment: [TOKEN=t0ken]}, db: {image: postgres}";
  const planned = await plan(services, { containers }, { removeOrphans: true });
  const others = ["network default none", "service web start", "service db create"];

  deepEqual(actionsOf(planned), [...others, "service old remove"]);
  deepEqual(actionsOf(await plan(services, { containers })), [...others, "service old none"]);
  deepEqual(planned.warnings, ["Image postgres of db is not on the engine and has to be pulled"]);
});

Deno.test("planProject() recreates a stopped container whose network was removed", async () => {
  const web = (NetworkID: string, more: object = {}) => ({
    ...container("web", { running: false, ...more }),
    NetworkSettings: { Networks: { shop_default: { NetworkID } } },
  } as unknown as ContainerInspect);
  const network = { Id: "new", Name: "shop_default", Labels: {} } as unknown as Network;
  const planned = async (found: ContainerInspect, exists = true, extra = "") =>
    ofService(
      await plan(`web: {${TOKEN}${extra}}`, {
        containers: [found],
        networks: new Set(exists ? ["shop_default"] : []),
        networkDetails: new Map(exists ? [["shop_default", network]] : []),
      }),
      "web",
    );

  const text = "network shop_default of the container was removed";
  const gone = { path: "networks.shop_default", from: null, to: null, text };
  for (const exists of [true, false]) {
    const { action, reasons } = (await planned(web("old"), exists))!;
    deepEqual([action, reasons], ["recreate", [gone]]);
  }
  // The network itself; a container that has never run; Podman.
  for (const id of ["new", "", "shop_default"]) equal((await planned(web(id)))?.action, "start");
  // It has done its work, and does not do it again.
  equal((await planned(web("old"), true, ", restart: 'no'"))?.action, "none");
});

Deno.test("planProject() recreates a container whose image is for another platform", async () => {
  const containers = [container("web", { config: { Env: ["TOKEN=t0ken"] } })];
  const planned = async (platform: string) => {
    const { warnings, ...rest } = await plan(`web: {${TOKEN}, platform: ${platform}}`, {
      containers,
      imageIds: new Map([["nginx for linux/amd64", "sha256:old"]]),
      platforms: new Map([["sha256:old", { Os: "linux", Architecture: "amd64" }]]),
    });
    return [ofService(rest as Planned, "web")?.reasons.map(({ text }) => text), warnings];
  };

  deepEqual(await planned("linux/amd64"), [[], []]);
  deepEqual(await planned("linux/arm64"), [
    ["platform changed from linux/amd64 to linux/arm64"],
    ["Image nginx for linux/arm64 of web is not on the engine and has to be pulled"],
  ]);
});

for (
  const [platform, image, isUsable] of [
    ["linux/amd64", "linux/amd64", true],
    ["amd64", "linux/amd64", true],
    ["linux/x86_64", "linux/amd64", true],
    ["linux", "linux/arm64", true],
    ["linux/arm64/v8", "linux/arm64", true],
    ["aarch64", "linux/arm64/v8", true],
    ["linux/arm/v7", "linux/arm/v6", false],
    ["linux/arm/v7", "linux/arm/v7", true],
    ["linux/arm64", "linux/amd64", false],
    ["windows/amd64", "linux/amd64", false],
  ] as const
) {
  Deno.test(`an image for ${image} is ${isUsable ? "" : "not "}used for ${platform}`, () => {
    equal(isForPlatform(parsePlatform(image), platform), isUsable);
  });
}

Deno.test("planProject() compares every setting that an engine describes", async () => {
  const wanted = `web: {image: nginx, environment: [TOKEN=t0ken],
    annotations: {a: b}, blkio_config: {weight: 300, device_read_bps: [{path: /dev/sda, rate: 1m}]},
    cgroup: private, cgroup_parent: /shop, container_name: shop, cpu_period: 100ms, cpu_quota: 50ms,
    cpu_shares: 512, cpuset: "0", device_cgroup_rules: [c 1:3 mr], devices: [/dev/null:/dev/nothing],
    dns_opt: [ndots:1], dns_search: [example.org], expose: ["9000-9001"],
    gpus: all, healthcheck: {test: curl localhost, interval: 10s}, ipc: host,
    logging: {driver: local, options: {max-size: 1m}}, mac_address: "02:42:ac:11:00:02",
    mem_reservation: 32m, mem_swappiness: 10, memswap_limit: 64m, oom_kill_disable: true,
    oom_score_adj: 100, runtime: crun, shm_size: 128m, storage_opt: {size: 1g},
    tmpfs: [/run:size=1m], ulimits: {nofile: {soft: 1000, hard: 2000}, nproc: 64},
    userns_mode: host, uts: host, networks: {default: {aliases: [www], ipv4_address: 192.0.2.2}},
    volumes: [{type: bind, source: /srv, target: /srv, bind: {propagation: rslave}}, /cache],
    deploy: {resources: {limits: {cpus: "0.5", memory: 64m, pids: 50}},
      restart_policy: {condition: on-failure, max_attempts: 3}}}`;
  const planned = ofService(await plan(wanted, { containers: [container("web")] }), "web")!;

  const paths = new Set(planned.reasons.map(({ path }) => path.split(".")[0]));
  deepEqual([...paths].sort(), [
    "annotations",
    "blkio_config",
    "cgroup",
    "cgroup_parent",
    "container_name",
    "cpu_period",
    "cpu_quota",
    "cpu_shares",
    "cpus",
    "cpuset",
    "device_cgroup_rules",
    "devices",
    "dns_opt",
    "dns_search",
    "expose",
    "gpus",
    "healthcheck",
    "ipc",
    "logging",
    "mac_address",
    "mem_limit",
    "mem_reservation",
    "mem_swappiness",
    "memswap_limit",
    "networks",
    "oom_kill_disable",
    "oom_score_adj",
    "pids_limit",
    "restart",
    "runtime",
    "shm_size",
    "storage_opt",
    "tmpfs",
    "ulimits",
    "userns_mode",
    "uts",
    "volumes",
  ]);
  const texts = planned.reasons.map(({ text }) => text);
  for (
    const text of [
      "container_name changed from shop-web-1 to shop",
      "expose: 9001/tcp added",
      "healthcheck: interval added",
      "logging.options: max-size added",
      "networks: shop_default changed",
      "restart set to on-failure:3",
      "ulimits: nofile added",
      "volumes: /srv added",
    ]
  ) ok(texts.includes(text), text);
});

Deno.test("planProject() warns of settings that the engine is too old for, and plans nothing", async () => {
  const planned = await plan(
    "web: {image: nginx, environment: [TOKEN=t0ken], annotations: {a: b}, healthcheck: {start_interval: 1s}}",
    { containers: [container("web")], defaults: { apiVersion: "1.41" } },
  );

  deepEqual(ofService(planned, "web")?.reasons, []);
  deepEqual(planned.warnings, [
    "annotations of web has no effect: it needs API version 1.43, the engine has 1.41",
    "healthcheck.start_interval of web has no effect: it needs API version 1.44, the engine has 1.41",
  ]);
});

Deno.test("planProject() names what was removed from the file", async () => {
  const planned = await plan("web: {image: nginx, environment: [TOKEN=t0ken]}", {
    containers: [{
      ...container("web", {
        config: {
          Healthcheck: { Test: ["CMD", "true"], Retries: 3 },
          ExposedPorts: { "80/tcp": {} },
        },
      }),
      Name: "/frontend",
      HostConfig: {
        NetworkMode: "shop_default",
        Ulimits: [{ Name: "nofile", Soft: 10, Hard: 20 }],
        RestartPolicy: { Name: "always" },
        Tmpfs: { "/run": "" },
        PidsLimit: 50,
      },
    } as unknown as ContainerInspect],
  });

  deepEqual(ofService(planned, "web")?.reasons.map(({ text }) => text), [
    "container_name removed",
    "expose: 80/tcp removed",
    "healthcheck: retries removed",
    "healthcheck: test removed",
    "pids_limit removed",
    "restart removed",
    "tmpfs: /run removed",
    "ulimits: nofile removed",
  ]);
});

Deno.test("planProject() recreates what uses the namespace of a recreated service", async () => {
  const sidecar = {
    ...container("side", { config: { Env: [] } }),
    Id: "d".repeat(64),
    HostConfig: { NetworkMode: `container:${"c".repeat(64)}` },
    NetworkSettings: { Networks: {} },
  } as unknown as ContainerInspect;
  const containers = [container("web"), sidecar];
  const side = "side: {image: nginx, network_mode: 'service:web'}";
  const reasons = async (environment: string) =>
    ofService(
      await plan(`web: {image: nginx, environment: [${environment}]}, ${side}`, { containers }),
      "side",
    )?.reasons.map(({ text }) => text);

  deepEqual(await reasons("TOKEN=t0ken"), []);
  deepEqual(await reasons("TOKEN=n3w"), [
    "shares a namespace or volumes of web, which is recreated",
  ]);
});

for (
  const [what, db, image, refused] of [
    ["no health check", "{}", {}, true],
    ["a disabled one", "{disable: true}", { Test: ["CMD", "true"] }, true],
    ["the test NONE", "{test: [NONE]}", { Test: ["CMD", "true"] }, true],
    ["times only, and an image without one", "{interval: 5s}", {}, true],
    ["an image that disables it", "{}", { Test: ["NONE"] }, true],
    ["a health check", "{test: 'true'}", {}, false],
    ["the health check of its image", "{}", { Test: ["CMD", "true"] }, false],
    ["an image that is pulled yet", "{}", undefined, false],
  ] as const
) {
  Deno.test(`planProject() ${refused ? "refuses" : "accepts"} a wait for a service with ${what}`, async () => {
    const planned = async (required: boolean, scale = 1) =>
      await plan(
        `db: {image: postgres, scale: ${scale}, healthcheck: ${db}}, ` +
          `web: {${TOKEN}, depends_on: {db: {condition: service_healthy, required: ${required}}}}`,
        {
          images: new Map([["sha256:db", { Healthcheck: image } as unknown as ContainerConfig]]),
          imageIds: new Map(
            [["nginx", "sha256:old"], ...(image ? [["postgres", "sha256:db"]] : [])] as [
              string,
              string,
            ][],
          ),
        },
      );
    const text = "web waits until db is healthy, and db has no health check; ";

    deepEqual(
      (await planned(true)).refusals,
      refused ? [`${text}add healthcheck to db or use condition: service_started`] : [],
    );
    const optional = await planned(false);
    deepEqual(optional.refusals, []);
    equal(optional.warnings.includes(`${text}web does not wait for it`), refused);
    // Without containers, none is waited for.
    deepEqual((await planned(true, 0)).refusals, []);
  });
}

Deno.test("planProject() refuses one image for two platforms, unless the engine can keep both", async () => {
  const refusals = async (web: string, job: string, info: object = {}) =>
    (await plan(`web: {${TOKEN}, ${web}}, job: {${TOKEN}, ${job}}`, {
      defaults: { info: { OSType: "linux", Architecture: "x86_64", ...info } },
    })).refusals;
  const ARM = "platform: linux/arm64";

  deepEqual(await refusals(ARM, "platform: linux/amd64"), [
    "web and job use image nginx for different platforms (linux/arm64 and linux/amd64), and the " +
    "engine keeps one image of a name; give the images different tags or digests",
  ]);
  equal((await refusals(ARM, "tty: true")).length, 1);
  deepEqual(await refusals(ARM, "platform: arm64/v8"), []);
  deepEqual(await refusals("platform: amd64", "tty: true"), []);
  const containerd = { DriverStatus: [["driver-type", "io.containerd.snapshotter.v1"]] };
  deepEqual(await refusals(ARM, "tty: true", containerd), []);
});

Deno.test("planProject() refuses to recreate a container of a pod", async () => {
  const inPod = (host: object) =>
    ({
      ...container("web"),
      HostConfig: { NetworkMode: "shop_default", ...host },
    }) as unknown as ContainerInspect;
  const shared = `container:${"e".repeat(64)}`;
  const refusals = async (host: object, environment = "TOKEN=n3w") =>
    (await plan(`web: {image: nginx, environment: [${environment}]}`, {
      containers: [inPod(host)],
    })).refusals;

  for (
    const host of [
      { NetworkMode: shared, IpcMode: shared, UTSMode: shared },
      { CgroupParent: `/libpod_parent/${"e".repeat(64)}` },
      { CgroupParent: `machine.slice/machine-libpod_pod_${"e".repeat(64)}.slice` },
    ]
  ) {
    const [text = ""] = await refusals(host);
    match(text, /^shop-web-1 is in a pod of Podman/);
  }
  deepEqual(await refusals({ NetworkMode: shared }), []);
  deepEqual(await refusals({ CgroupParent: "/libpod_parent" }), []);
});

Deno.test("planProject() refuses to recreate a container that a unit of systemd owns", async () => {
  const given = container("web");
  const { Labels } = given.Config;
  const owned = {
    ...given,
    Config: { ...given.Config, Labels: { ...Labels, PODMAN_SYSTEMD_UNIT: "web.service" } },
  } as unknown as ContainerInspect;
  const { refusals } = await plan("web: {image: nginx, environment: [TOKEN=n3w]}", {
    containers: [owned],
  });
  deepEqual(refusals, [
    "shop-web-1 belongs to the unit web.service of systemd; restart it with systemctl restart web.service",
  ]);
});

/** A plan for a project whose network and volume exist with other settings. */
async function planParts(
  network: string,
  { found, options, ...observed }: Partial<Observed> & {
    found: Partial<Network>;
    options?: PlanOptions;
  },
) {
  const { project } = await loadProject({
    compose:
      `services: {web: {${TOKEN}, volumes: ["data:/data"]}, alone: {${TOKEN}, networks: [back]}}
networks: {default: ${network}, back: {}}
volumes: {data: {driver_opts: {o: "password=s3cret"}}}`,
    name: "shop",
  });
  return planProject(project!, {
    containers: [container("web"), container("alone")],
    images: new Map([["sha256:old", { Env: ["PATH=/bin"] }]]),
    imageIds: new Map([["nginx", "sha256:old"]]),
    networks: new Set(["shop_default", "shop_back"]),
    volumes: new Set(["shop_data"]),
    networkDetails: new Map([["shop_default", found as Network]]),
    volumeDetails: new Map([["shop_data", { Options: { o: "x" } } as unknown as Volume]]),
    ...observed,
  }, { recreate: "changed", ...options });
}

const CHANGED = { found: { Driver: "bridge", Internal: false } };
const INTERNAL = "{internal: true}";

Deno.test("planProject() recreates a changed network with the services on it, but no volume", async () => {
  const planned = await planParts(INTERNAL, CHANGED);

  deepEqual(planned.changes[0], {
    kind: "network",
    name: "default",
    action: "recreate",
    reasons: [{
      path: "networks.default",
      from: null,
      to: null,
      text: "internal is not true",
    }],
  });
  ok(
    ofService(planned, "web")?.reasons.some(({ text }) =>
      text === "network shop_default is recreated"
    ),
  );
  ok(
    !ofService(planned, "alone")?.reasons.some(({ text }) => text.includes("is recreated")),
  );
  deepEqual(planned.warnings, [
    "Volume shop_data exists with other settings, which a deploy does not change: driver_opts: o " +
    "is different",
  ]);
});

for (
  const [what, observed, reason] of [
    [
      "containers of other stacks",
      {
        attached: new Map([["shop_default", [
          { id: "a", name: "shop-web-1", service: "web" },
          { id: "b", name: "proxy", service: undefined },
          { id: "c", name: "shop-old-1", service: "old" },
        ]]]),
      },
      "it has containers that the deploy does not replace: proxy, shop-old-1",
    ],
    ["the request to recreate nothing", { options: { recreate: "never" } }, "containers are not"],
    ["a swarm", { found: { ...CHANGED.found, Scope: "swarm" } }, "it belongs to a swarm"],
  ] as [string, Parameters<typeof planParts>[1] & object, string][]
) {
  Deno.test(`planProject() leaves a changed network as it is for ${what}, and says so`, async () => {
    const planned = await planParts(INTERNAL, { ...CHANGED, ...observed });

    equal(planned.changes[0]?.action, "none");
    match(planned.warnings[0]!, /^Network shop_default exists with other settings, and stays/);
    ok(planned.warnings[0]!.includes(reason), planned.warnings[0]);
    deepEqual(planned.refusals, []);
  });
}

Deno.test("planProject() compares a network by the settings from which it was created", async () => {
  const created = async (settings: string) => {
    const { project } = await loadProject({
      compose: `services: {a: {image: a}}\nnetworks: {default: ${settings}}`,
      name: "shop",
    });
    const hash = networkHash(project!.networks.default!);
    return {
      found: { Name: "shop_default", Internal: false, Labels: { "longshore.network-hash": hash } },
    };
  };
  const same = await planParts(INTERNAL, await created(INTERNAL));
  equal(same.changes[0]?.action, "none");
  match(
    same.warnings[0]!,
    /^The engine does not describe network shop_default as it was created: internal/,
  );
  const changed = await planParts("{}", await created(INTERNAL));
  deepEqual(changed.changes[0]?.reasons.map(({ text }) => text), ["a setting was removed"]);
  const unchanged = await planParts("{labels: {b: '1', a: '2'}}", {
    found: {
      Labels: {
        ...(await created("{labels: {a: '2', b: '1'}}")).found.Labels,
        a: "2",
        b: "1",
      },
    },
  });
  equal(unchanged.changes[0]?.action, "none");
});

Deno.test("planProject() recreates always or never on request", async () => {
  const same = "web: {image: nginx, environment: [TOKEN=t0ken]}";
  const changed = "web: {image: nginx, environment: [TOKEN=other]}";
  const containers = [container("web")];
  const action = async (services: string, recreate: PlanOptions["recreate"]) =>
    ofService(await plan(services, { containers }, { recreate }), "web")?.action;

  deepEqual(await action(same, "changed"), "none");
  deepEqual(await action(same, "always"), "recreate");
  deepEqual(await action(changed, "changed"), "recreate");
  deepEqual(await action(changed, "never"), "none");
});

Deno.test("planProject() plans some services with those that they depend on", async () => {
  const services =
    "web: {image: nginx, depends_on: [db]}, db: {image: nginx}, other: {image: nginx}";

  deepEqual(actionsOf(await plan(services, {}, { services: ["web"] })), [
    "network default none",
    "service web create",
    "service db create",
  ]);
});

Deno.test("planProject() recreates what shares a namespace of a recreated container", async () => {
  const planned = await plan(
    "web: {image: nginx, environment: [TOKEN=n3w]}, " +
      "side: {image: nginx, network_mode: 'service:web', environment: [TOKEN=t0ken]}",
    {
      containers: [
        container("web"),
        {
          ...container("side"),
          HostConfig: { NetworkMode: `container:${"c".repeat(64)}` },
        } as ContainerInspect,
      ],
    },
  );

  const side = ofService(planned, "side");
  deepEqual(side?.action, "recreate");
  deepEqual(side?.reasons.map(({ text }) => text), [
    "shares a namespace or volumes of web, which is recreated",
  ]);
});

Deno.test("planProject() names changed configs and secrets without their values", async () => {
  const services = "web: {image: nginx, environment: [TOKEN=t0ken]}";
  const each = { "secrets.key": "a", "configs.conf": "b", "post_start": "c" };
  const reasonsFor = async (labels: Record<string, string>) => {
    const found = container("web");
    Object.assign(found.Config.Labels!, labels);
    const fileHashes = new Map([["web", { all: "hash", each }]]);
    return ofService(await plan(services, { containers: [found], fileHashes }), "web")?.reasons;
  };
  const labels = (hashes: unknown) => ({
    "longshore.files": "old",
    "longshore.files.each": JSON.stringify(hashes),
  });
  const changed = { from: "(changed)", to: "(changed)" };

  deepEqual(await reasonsFor(labels({ "secrets.key": "x", "configs.old": "y", post_start: "c" })), [
    { path: "configs.conf", from: null, to: "(changed)", text: "configs: conf added" },
    { path: "configs.old", from: "(changed)", to: null, text: "configs: old removed" },
    { path: "secrets.key", ...changed, text: "secrets: key changed" },
  ]);
  deepEqual(await reasonsFor({ "longshore.files": "hash" }), []);
  deepEqual((await reasonsFor({}))!.map(({ text }) => text), [
    "configs: conf added",
    "post_start added",
    "secrets: key added",
  ]);
  // A container of an earlier version, or with another text in the label.
  const unknown = [{
    path: "secrets",
    ...changed,
    text: "a config, a secret or post_start changed",
  }];
  deepEqual(await reasonsFor({ "longshore.files": "old" }), unknown);
  deepEqual(await reasonsFor({ "longshore.files": "old", "longshore.files.each": "{" }), unknown);
});

for (
  const { what, services, exitCode = 0, planned } of [
    {
      what: "does not start a completed service that another one waits for",
      services: `job: {${TOKEN}}, web: {${TOKEN}, depends_on: {job: {condition: ` +
        "service_completed_successfully}}}",
      planned: ["none", "1 completed with exit code 0"],
    },
    {
      what: 'does not start a completed service with restart: "no"',
      services: `job: {${TOKEN}, restart: "no"}`,
      planned: ["none", "1 completed with exit code 0"],
    },
    {
      what: "starts a completed service whose network another one shares",
      services: `job: {${TOKEN}, restart: "no"}, web: {${TOKEN}, network_mode: "service:job"}`,
      planned: ["start", "1 not running"],
    },
    {
      what: "starts a service that failed",
      services: `job: {${TOKEN}, restart: "no"}`,
      exitCode: 1,
      planned: ["start", "1 not running"],
    },
    {
      what: "starts a service that may have been stopped by a user",
      services: `job: {${TOKEN}}`,
      planned: ["start", "1 not running"],
    },
  ]
) {
  Deno.test(`planProject() ${what}`, async () => {
    const job = container("job", { running: false, exitCode });
    const change = ofService(await plan(services, { containers: [job, container("web")] }), "job");

    deepEqual([change?.action, ...change!.reasons.map(({ text }) => text)], planned);
  });
}

const scaled = (numbers: readonly number[]) =>
  numbers.map((number) =>
    container("web", {
      name: `shop-web-${number}`,
      running: number !== 2,
      exitCode: 1,
      config: {
        Labels: {
          "com.docker.compose.service": "web",
          "com.docker.compose.container-number": `${number}`,
        },
      },
    })
  );

for (
  const { what, numbers, scale, recreate, planned } of [
    {
      what: "starts what is stopped when the scale changes",
      numbers: [1, 2],
      scale: 3,
      planned: ["create", "scale changed from 2 to 3", "1 not running"],
    },
    {
      what: "leaves containers that are removed stopped",
      numbers: [1, 2],
      scale: 1,
      planned: ["remove", "scale changed from 2 to 1"],
    },
    {
      what: "recreates all on request when the scale changes",
      numbers: [1, 3],
      scale: 3,
      recreate: "always" as const,
      planned: ["recreate", "recreation was requested", "scale changed from 2 to 3"],
    },
    {
      what: "changes the scale without a recreation",
      numbers: [1],
      scale: 2,
      recreate: "never" as const,
      planned: ["create", "scale changed from 1 to 2"],
    },
  ]
) {
  Deno.test(`planProject() ${what}`, async () => {
    const change = ofService(
      await plan(`web: {${TOKEN}, scale: ${scale}}`, { containers: scaled(numbers) }, { recreate }),
      "web",
    );

    deepEqual([change?.action, ...change!.reasons.map(({ text }) => text)], planned);
  });
}

Deno.test("planProject() recreates what depends with restart on a recreated service, also unselected", async () => {
  const services = "db: {image: nginx, environment: [TOKEN=n3w]}, " +
    `web: {${TOKEN}, depends_on: {db: {condition: service_started, restart: true}}}, ` +
    `other: {${TOKEN}, depends_on: [db]}, ` +
    `missing: {${TOKEN}, depends_on: {db: {condition: service_started, restart: true}}}`;
  const containers = [container("db"), container("web"), container("other")];

  deepEqual(actionsOf(await plan(services, { containers }, { services: ["db"] })), [
    "network default none",
    "service db recreate",
    "service web recreate",
  ]);
});

Deno.test("replicasOf() keeps the lowest numbers, and leftovers only in place of a missing container", async () => {
  const { project } = await loadProject({ compose: `services: {web: {${TOKEN}, scale: 2}}` });
  const leftoverOf = (container: ContainerInspect) => ({
    ...container,
    Name: `${container.Name}-longshore-old-running-0123456789ab`,
  });
  const [first, second, third] = scaled([1, 2, 3]) as [
    ContainerInspect,
    ContainerInspect,
    ContainerInspect,
  ];
  const names = (containers: ContainerInspect[]) => {
    const { kept, superfluous, missing } = replicasOf(project!, "web", containers);
    return [kept.map(({ Name }) => Name), superfluous.map(({ Name }) => Name), missing];
  };

  deepEqual(names([third, leftoverOf(first), second, first]), [
    ["/shop-web-1", "/shop-web-2"],
    ["/shop-web-1-longshore-old-running-0123456789ab", "/shop-web-3"],
    [],
  ]);
  deepEqual(names([first, leftoverOf(first), leftoverOf(third)]), [
    ["/shop-web-1", "/shop-web-3-longshore-old-running-0123456789ab"],
    ["/shop-web-1-longshore-old-running-0123456789ab"],
    [],
  ]);
});

Deno.test("planProject() limits the reasons of a change, and compares many ports", async () => {
  const planned = ofService(
    await plan("web: {image: nginx, expose: ['1-12000'], ports: ['3000-9999:3000-9999']}", {
      containers: [container("web")],
    }),
    "web",
  )!;
  equal(planned.action, "recreate");
  equal(planned.reasons.length, 101);
  equal(planned.reasons.at(-1)!.text, "11901 more differences");
});

Deno.test("planProject() refuses host ports that other containers have", async () => {
  const port = (publicPort: number, ip: string | null = null, type = "tcp") => ({
    ...{ ip, publicPort, type },
    privatePort: 80,
  });
  const all = [
    containerOf({ name: "proxy", ports: [port(80), port(53, "127.0.0.1", "udp")] }),
    containerOf({ name: "first", ports: [port(8000, "0.0.0.0"), port(8000, "::")] }),
    containerOf({ name: "second", ports: [port(8001, "192.0.2.1")] }),
    containerOf({ name: "shop-web-1", ports: [port(9000)] }),
  ];
  const refusals = async (ports: string, observed: Partial<Observed> = {}, more = "") =>
    (await plan(`web: {image: nginx, ports: [${ports}]${more}}`, { all, ...observed })).refusals;
  const taken = (port: string, holder: string) => [
    `Port ${port} of web is in use by container ${holder}: stop it or publish another port`,
  ];
  for (
    const [ports, expected] of [
      ["'80:80'", taken("80", "proxy")],
      ["'127.0.0.1:80:80'", taken("127.0.0.1:80", "proxy")],
      ["'80:80/udp', '81:80', '80'", []],
      ["'53:53/udp'", taken("53/udp", "proxy")],
      ["'192.0.2.1:53:53/udp'", []],
      ["'[::1]:8000:80'", taken("[::1]:8000", "first")],
      ["'192.0.2.2:8001:80'", []],
      ["'[::]:8001:80'", []],
      ["'8000-8001:80'", taken("8000-8001", "second")],
      ["'8000-8002:80'", []],
    ] as const
  ) deepEqual(await refusals(ports), expected, ports);
  deepEqual(await refusals("'80:80'", {}, ", network_mode: host"), []);

  const own = { ...container("web"), Id: idOf("shop-web-1") };
  deepEqual(await refusals("'9000:80'", { containers: [own] }), []);
  const orphan = { ...container("old"), Id: idOf("shop-web-1") };
  deepEqual(await refusals("'9000:80'", { containers: [orphan] }), taken("9000", "shop-web-1"));
  const removed = await plan("web: {image: nginx, ports: ['9000:80']}", {
    all,
    containers: [orphan],
  }, { removeOrphans: true });
  deepEqual(removed.refusals, []);
});
