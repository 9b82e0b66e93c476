import { deepEqual, equal } from "node:assert/strict";
import type { Network } from "../../../../engine/networks.ts";
import type { Volume } from "../../../../engine/volumes.ts";
import { loadProject } from "../../../../services/compose/load/load.ts";
import { leavingPaths } from "../../../../services/compose/plan/boundary.ts";
import { containerOf } from "../../../helpers/fake_containers.ts";

const labelled = (name: string, project?: string, more: object = {}) => ({
  Name: name,
  Driver: "local",
  Labels: project === undefined ? null : { "com.docker.compose.project": project },
  Options: null,
  ...more,
});

/** An engine with parts of the project `shop`, of another one, and of none. */
const OBSERVED = {
  networkDetails: new Map([
    ...["shop_own", "other_default"].map((name) => labelled(name, name.split("_")[0])),
    labelled("bridge"),
  ].map((each) => [each.Name, each as unknown as Network])),
  volumeDetails: new Map([
    labelled("shop_own", "shop"),
    labelled("shop_bound", "shop", { Options: { type: "none", o: "bind", device: "/etc" } }),
    labelled("other_data", "other"),
    labelled("loose"),
  ].map((each) => [each.Name, each as unknown as Volume])),
  all: [
    containerOf({ name: "other-web-1", composeProject: "other" }),
    containerOf({ name: "shop-web-1", composeProject: "shop" }),
  ],
};

async function pathsOf(compose: object): Promise<string[]> {
  const { project, errors } = await loadProject({
    compose: JSON.stringify(compose),
    name: "shop",
    directory: "/opt/stacks/shop",
    readFile: () => "",
  });
  deepEqual(errors, []);
  return leavingPaths({ project: project!, outside: [] }, OBSERVED);
}

const service = (settings: object, parts: object = {}) =>
  pathsOf({ services: { db: { image: "db" }, web: { image: "nginx", ...settings } }, ...parts });

for (
  const [key, ...values] of [
    ["annotations", { a: "b" }],
    ["cap_add", ["SYS_ADMIN"], ["cap_net_admin"], ["ALL"]],
    ["cgroup", "host"],
    ["cgroup_parent", "/x"],
    ["container_name", "other-web-1"],
    ["deploy", { resources: { reservations: { devices: [{ capabilities: ["gpu"] }] } } }],
    ["device_cgroup_rules", ["c 1:3 mr"]],
    ["devices", ["/dev/sda"], ["vendor.com/class=name"]],
    ["external_links", ["other-web-1"]],
    ["gpus", "all"],
    ["ipc", "host", "container:other-web-1"],
    ["logging", { driver: "syslog" }, { options: { path: "/etc/x" } }],
    ["network_mode", "host", "bridge", "container:other-web-1", "other_default"],
    ["oom_kill_disable", true],
    ["oom_score_adj", -500],
    ["pid", "host", "container:other-web-1"],
    ["post_start", [{ command: "true", privileged: true }]],
    ["pre_stop", [{ command: "true", privileged: true }]],
    ["privileged", true],
    ["runtime", "nvidia"],
    ["security_opt", ["seccomp=unconfined"], ["label:disable"], ["no-new-privileges:false"]],
    ["userns_mode", "host"],
    ["uts", "host"],
    [
      "volumes",
      ["/etc/shadow:/s"],
      ["./data:/data"],
      ["/var/run/docker.sock:/var/run/docker.sock:ro"],
      [{ type: "bind", source: "/", target: "/host" }],
      [{ type: "npipe", source: "x", target: "/y" }],
    ],
    ["volumes_from", ["container:other-web-1"]],
  ] as [string, ...unknown[]][]
) {
  Deno.test(`services.web.${key} that leaves the project is found`, async () => {
    for (const value of values) {
      deepEqual(await service({ [key]: value }), [`services.web.${key}`], JSON.stringify(value));
    }
  });
}

for (
  const settings of [
    { cap_add: ["NET_BIND_SERVICE"], cap_drop: ["ALL"], privileged: false },
    { cgroup: "private", ipc: "shareable", oom_score_adj: 100, uts: "private" },
    { ipc: "service:db", network_mode: "service:db", pid: "service:db" },
    { network_mode: "none", security_opt: ["no-new-privileges:true"] },
    { container_name: "shop-web-1", logging: { driver: "json-file", options: { tag: "x" } } },
    { deploy: { replicas: 2, resources: { limits: { memory: "1g" } } }, sysctls: { a: "1" } },
    { volumes: ["/anonymous", { type: "tmpfs", target: "/t" }], volumes_from: ["db"] },
    { post_start: [{ command: "true" }], links: ["db"], ports: ["80:80"], tmpfs: "/run" },
  ]
) {
  Deno.test(`${JSON.stringify(settings)} stays inside of the project`, async () => {
    deepEqual(await service(settings), []);
  });
}

for (
  const [kind, part, leaves] of [
    ["volumes", {}, false],
    ["volumes", { name: "shop_own" }, false],
    ["volumes", { name: "shop_own", external: true }, false],
    ["volumes", { name: "shop_bound" }, true],
    ["volumes", { name: "other_data" }, true],
    ["volumes", { name: "other_data", external: true }, true],
    ["volumes", { name: "loose", external: true }, true],
    ["volumes", { name: "unknown", external: true }, true],
    ["volumes", { driver: "sshfs" }, true],
    ["volumes", { driver_opts: { type: "none", o: "bind", device: "/etc" } }, true],
    ["volumes", { driver_opts: { type: "nfs", o: "addr=192.0.2.1", device: ":/x" } }, true],
    ["networks", {}, false],
    [
      "networks",
      { driver: "bridge", driver_opts: { "com.docker.network.driver.mtu": 1400 } },
      false,
    ],
    ["networks", { name: "shop_own", external: true }, false],
    ["networks", { name: "other_default" }, true],
    ["networks", { name: "other_default", external: true }, true],
    ["networks", { name: "bridge", external: true }, true],
    ["networks", { name: "unknown", external: true }, true],
    ["networks", { driver: "macvlan", driver_opts: { parent: "eth0" } }, true],
    ["networks", { driver_opts: { "com.docker.network.bridge.name": "docker0" } }, true],
    ["networks", { ipam: { driver: "dhcp" } }, true],
  ] as [string, object, boolean][]
) {
  Deno.test(`${kind}: ${JSON.stringify(part)} ${leaves ? "leaves" : "stays in"} the project`, async () => {
    const use = kind === "volumes" ? { volumes: ["part:/data"] } : { networks: ["part"] };
    const found = await service(use, { [kind]: { part } });
    deepEqual(found, leaves ? [`${kind}.part`] : []);
  });
}

Deno.test("secrets and configs that are files of the host leave the project", async () => {
  const secret = await service({ secrets: ["key"] }, { secrets: { key: { file: "/etc/shadow" } } });
  const config = await service({ configs: ["key"] }, { configs: { key: { file: "./x" } } });
  const content = await service({ configs: ["key"] }, { configs: { key: { content: "text" } } });

  for (const paths of [secret, config]) equal(paths.length, 1, `${paths}`);
  deepEqual(content, []);
});

Deno.test("files outside of the directory of a stack leave the project", async () => {
  const { project } = await loadProject({ compose: "services: {}", name: "shop" });

  const found = leavingPaths({ project: project!, outside: ["/opt/stacks/other/.env"] }, OBSERVED);

  deepEqual(found, ["files outside of its directory"]);
});
