/** Merging of files: override files, `include` with several paths, and `extends`. */

import { deepEqual, equal } from "node:assert/strict";
import { loadProject, type ProjectSources } from "../../../../services/compose/load/load.ts";
import type { Service } from "../../../../services/compose/load/resolve.ts";

const OVERRIDE = "compose.override.yaml";

function loadFiles(
  compose: string,
  texts: Record<string, string>,
  more: Partial<ProjectSources> = {},
) {
  const readFile = (path: string) => Object.hasOwn(texts, path) ? texts[path] : undefined;
  return loadProject({ compose, name: "shop", readFile, ...more });
}

/** The project of a text and one that overrides it. */
async function load(compose: string, override: string, more: Partial<ProjectSources> = {}) {
  const { project, errors } = await loadFiles(compose, { [OVERRIDE]: override }, {
    configFiles: ["compose.yaml", OVERRIDE],
    ...more,
  });
  deepEqual(errors, []);
  return project!;
}

/** Keys of a service in two texts, in YAML, and what they are together. */
type Case = readonly [base: string, over: string, merged: Partial<Record<keyof Service, unknown>>];

const tcp = (published: string, target: number, more: object = {}) => ({
  mode: "ingress",
  ...more,
  target,
  published,
  protocol: "tcp",
});

const CASES: readonly Case[] = [
  // Scalars.
  ["hostname: a", "hostname: b", { hostname: "b" }],
  ["hostname: a", "user: b", { hostname: "a", user: "b" }],
  ["hostname: a", "hostname:", { hostname: undefined }],
  ["read_only: true", "read_only: false", { read_only: false }],
  // Maps, also from lists.
  ["labels: {a: '1', b: '2'}", "labels: [b=3, c]", { labels: { a: "1", b: "3", c: "" } }],
  ["labels: {a: '1'}", "labels:", { labels: { a: "1" } }],
  ["environment: [A=1, B=2]", "environment: {B: 3, C: }", {
    environment: { A: "1", B: "3", C: null },
  }],
  ["sysctls: {a: 1}", "sysctls: [b=2]", { sysctls: { a: "1", b: "2" } }],
  ["annotations: {a: x}", "annotations: [b=y]", { annotations: { a: "x", b: "y" } }],
  ["ulimits: {nofile: {soft: 1, hard: 2}}", "ulimits: {nofile: {soft: 2, hard: 3}, nproc: 5}", {
    ulimits: { nofile: { soft: 2, hard: 3 }, nproc: 5 },
  }],
  ["ulimits: {nofile: {soft: 1, hard: 2}}", "ulimits: {nofile: 7}", { ulimits: { nofile: 7 } }],
  // Commands.
  ["command: [a, b]", "command: [c]", { command: ["c"] }],
  ["command: [a]", "command:", { command: null }],
  ["command: [a]", "command: []", { command: [] }],
  ["entrypoint: a b", "entrypoint: [c]", { entrypoint: ["c"] }],
  ["entrypoint: a", "entrypoint: null", { entrypoint: null }],
  ["healthcheck: {test: [CMD, a], interval: 5s}", "healthcheck: {test: b, retries: 2}", {
    healthcheck: { test: ["CMD-SHELL", "b"], interval: "5s", retries: 2 },
  }],
  ["healthcheck: {test: a, interval: 5s}", "healthcheck: {test: , disable: true}", {
    healthcheck: { interval: "5s", disable: true },
  }],
  // Lists without keys: what is equal is the same.
  ["cap_add: [A, B]", "cap_add: [B, C]", { cap_add: ["A", "B", "C"] }],
  ["dns: 192.0.2.1", "dns: [192.0.2.1, 192.0.2.2]", { dns: ["192.0.2.1", "192.0.2.2"] }],
  ["security_opt: [a=1]", "security_opt: [a=2]", { security_opt: ["a=1", "a=2"] }],
  ["expose: [80]", "expose: ['80', 81/udp]", { expose: ["80", "81/udp"] }],
  ["extra_hosts: {a: 192.0.2.1}", "extra_hosts: ['a:192.0.2.2', 'b:192.0.2.1']", {
    extra_hosts: ["a=192.0.2.1", "a=192.0.2.2", "b=192.0.2.1"],
  }],
  ["group_add: [a]", "group_add: [b]", { group_add: ["a", "b"] }],
  [
    "blkio_config: {weight: 10, weight_device: [{path: /a, weight: 10}]}",
    "blkio_config: {weight_device: [{path: /b, weight: 20}]}",
    {
      blkio_config: {
        weight: 10,
        weight_device: [{ path: "/a", weight: 10 }, { path: "/b", weight: 20 }],
      },
    },
  ],
  // Lists with keys: an entry replaces the one with the same key.
  ["ports: ['80:80', '81:81']", "ports: ['80:80', '8081:81']", {
    ports: [tcp("80", 80), tcp("81", 81), tcp("8081", 81)],
  }],
  ["ports: ['0.0.0.0:80:80']", "ports: [{target: 80, published: 80, name: web}]", {
    ports: [tcp("80", 80, { name: "web" })],
  }],
  ["ports: ['80:80']", "ports: ['127.0.0.1:80:80']", {
    ports: [tcp("80", 80), tcp("80", 80, { host_ip: "127.0.0.1" })],
  }],
  ["volumes: ['/a:/x', '/b:/y']", "volumes: [{type: tmpfs, target: /x}]", {
    volumes: [
      { type: "tmpfs", target: "/x" },
      { type: "bind", source: "/b", target: "/y", bind: { create_host_path: true } },
    ],
  }],
  ["tmpfs: ['/run', '/tmp']", "tmpfs: '/run:size=1m'", { tmpfs: ["/run:size=1m", "/tmp"] }],
  ["devices: ['/dev/a:/dev/x', '/dev/b']", "devices: ['/dev/c:/dev/x']", {
    devices: [
      { source: "/dev/c", target: "/dev/x", permissions: "rwm" },
      { source: "/dev/b", target: "/dev/b", permissions: "rwm" },
    ],
  }],
  ["devices: [vendor.com/gpu=0, vendor.com/gpu=1]", "devices: [vendor.com/gpu=2]", {
    devices: [
      { source: "vendor.com/gpu=0" },
      { source: "vendor.com/gpu=1" },
      { source: "vendor.com/gpu=2" },
    ],
  }],
  [
    "configs: [{source: c, target: /x}, {source: c, target: /y}]",
    "configs: [{source: c, target: /z}, {source: d, target: /x}]",
    {
      configs: [
        { source: "d", target: "/x" },
        { source: "c", target: "/y" },
        { source: "c", target: "/z" },
      ],
    },
  ],
  ["configs: [c]", "configs: [{source: d, target: /c}]", {
    configs: [{ source: "d", target: "/c" }],
  }],
  ["secrets: [s]", "secrets: [{source: s, target: copy}, {source: s, target: /run/secrets/s}]", {
    secrets: [{ source: "s", target: "/run/secrets/s" }, { source: "s", target: "copy" }],
  }],
  // Device requests have no keys.
  [
    "deploy: {resources: {reservations: {devices: [{driver: a, capabilities: [gpu]}]}}}",
    "deploy: {resources: {reservations: {devices: [{driver: b, capabilities: [gpu]}]}}}",
    {
      deploy: {
        resources: {
          reservations: {
            devices: [
              { driver: "a", capabilities: ["gpu"] },
              { driver: "b", capabilities: ["gpu"] },
            ],
          },
        },
      },
    },
  ],
  ["deploy: {replicas: 2, labels: {a: b}}", "deploy: {replicas: 3}", {
    deploy: { replicas: 3, labels: { a: "b" } },
  }],
  // Options of a log driver belong to it.
  ["logging: {options: {max-size: 10m}}", "logging: {driver: json-file}", {
    logging: { driver: "json-file", options: { "max-size": "10m" } },
  }],
  ["logging: {driver: json-file}", "logging: {options: {max-size: 10m}}", {
    logging: { driver: "json-file", options: { "max-size": "10m" } },
  }],
  ["logging: {driver: json-file, options: {max-size: 10m}}", "logging: {driver: syslog}", {
    logging: { driver: "syslog" },
  }],
  ["logging: {driver: x, options: {a: '1'}}", "logging: {driver: x, options: {b: '2'}}", {
    logging: { driver: "x", options: { a: "1", b: "2" } },
  }],
  // Networks and dependencies, in both forms.
  ["networks: [a, b]", "networks: {b: {aliases: [x]}, c: }", {
    networks: { a: null, b: { aliases: ["x"] }, c: null },
  }],
  ["networks: {a: {aliases: [x], priority: 1}}", "networks: [a]", {
    networks: { a: { aliases: ["x"], priority: 1 } },
  }],
  ["networks: {a: {aliases: [x]}}", "networks: {a: {aliases: [x, y]}}", {
    networks: { a: { aliases: ["x", "y"] } },
  }],
  ["depends_on: {db: {condition: service_healthy, restart: true}}", "depends_on: [db]", {
    depends_on: { db: { condition: "service_started", restart: true, required: true } },
  }],
  [
    "depends_on: {db: {condition: service_started, required: false}}",
    "depends_on: {db: {condition: service_healthy}}",
    { depends_on: { db: { condition: "service_healthy", required: false } } },
  ],
  // Tags.
  ["ports: ['80:80']", "ports: !override ['127.0.0.1:81:80']", {
    ports: [tcp("81", 80, { host_ip: "127.0.0.1" })],
  }],
  ["ports: ['80:80']", "ports: !reset []", { ports: undefined }],
  ["ports: ['80:80']", "ports: !reset", { ports: undefined }],
  ["environment: {A: '1', B: '2'}", "environment: {A: !reset null}", { environment: { B: "2" } }],
  ["environment: [A=1, B=2]", "environment: {A: !reset null, C: 3}", {
    environment: { B: "2", C: "3" },
  }],
  ["environment: {A: '1'}", "environment: !override {C: 3}", { environment: { C: "3" } }],
  ["labels: [a=1, b=2]", "labels: !override [c=3]", { labels: { c: "3" } }],
  ["hostname: a", "hostname: !reset b", { hostname: undefined }],
  ["scale: 2", "scale: !override 3", { scale: 3 }],
  ["read_only: true", "read_only: !override false", { read_only: false }],
  ["user: a", "user: !override '0'", { user: "0" }],
  ["environment: {A: '1'}", "environment: {A: !override 010}", { environment: { A: "8" } }],
  [
    "deploy: {resources: {limits: {cpus: 1, memory: 1g}}}",
    "deploy: {resources: {limits: {cpus: !reset null}}}",
    {
      deploy: { resources: { limits: { memory: "1073741824" } } },
    },
  ],
  [
    "deploy: {resources: {limits: {cpus: 1, pids: 5}}}",
    "deploy: {resources: {limits: !override {pids: 6}}}",
    {
      deploy: { resources: { limits: { pids: 6 } } },
    },
  ],
  ["extra_hosts: {a: 192.0.2.1, b: 192.0.2.2}", "extra_hosts: {a: !reset null}", {
    extra_hosts: ["b=192.0.2.2"],
  }],
  ["networks: [a, b]", "networks: {a: !reset null}", { networks: { b: null } }],
  ["depends_on: [db]", "depends_on: !reset []", { depends_on: undefined }],
  ["logging: {driver: x, options: {a: '1'}}", "logging: {options: !reset {}}", {
    logging: { driver: "x" },
  }],
];

const PARTS = `
  db: {image: a}
networks: {a: , b: , c: }
configs: {c: {content: x}, d: {content: y}}
secrets: {s: {environment: TOKEN}}
`;

for (const [base, over, merged] of CASES) {
  Deno.test(`an override merges ${base} and ${over}`, async () => {
    const { services: { web } } = await load(
      `services:\n  web:\n    image: a\n    ${base}${PARTS}`,
      `services:\n  web:\n    ${over}\n`,
      { env: "TOKEN=t" },
    );
    const [key] = Object.keys(merged) as [keyof Service];
    deepEqual(web![key], merged[key]);
  });

  Deno.test(`extends merges ${base} and ${over}`, async () => {
    const { project, errors } = await loadFiles(
      `services:
  base:
    image: a
    ${base}
  web:
    extends: base
    ${over}${PARTS}`,
      {},
      { env: "TOKEN=t" },
    );
    deepEqual(errors, []);
    const [key] = Object.keys(merged) as [keyof Service];
    deepEqual(project!.services.web![key], merged[key]);
  });
}

const SHOP = `services:
  db:
    image: postgres:17
    volumes: ["data:/var/lib/postgresql"]
    networks: [back]
    secrets: [key]
    configs: [conf]
volumes:
  data: {name: prod_data, external: true}
networks:
  back:
    name: prod_back
    ipam: {config: [{subnet: 192.0.2.0/24}]}
secrets:
  key: {environment: KEY}
configs:
  conf: {content: a}
`;

const TEAM = `services:
  db:
    labels: {team: a}
volumes:
  data:
networks:
  back:
    labels: {team: a}
secrets:
  key: {labels: {team: a}}
configs:
  conf: {name: shared_conf}
`;

const MERGED = {
  volumes: { data: { name: "prod_data", external: true } },
  networks: {
    back: {
      name: "prod_back",
      ipam: { config: [{ subnet: "192.0.2.0/24" }] },
      labels: { team: "a" },
    },
  },
  secrets: { key: { name: "shop_key", environment: "KEY", labels: { team: "a" } } },
  configs: { conf: { name: "shared_conf", content: "a" } },
};

Deno.test("an override keeps what it does not say of volumes, networks, secrets and configs", async () => {
  const { volumes, networks, secrets, configs } = await load(SHOP, TEAM, { env: "KEY=k" });

  deepEqual({ volumes, networks, secrets, configs }, MERGED);
});

Deno.test("the files of one include are merged like overrides", async () => {
  const { project, errors } = await loadFiles(
    "include:\n  - path: [shop.yaml, team.yaml]",
    { "shop.yaml": SHOP, "team.yaml": TEAM },
    { env: "KEY=k" },
  );

  deepEqual(errors, []);
  const { volumes, networks, secrets, configs } = project!;
  deepEqual({ volumes, networks, secrets, configs }, MERGED);
});

for (
  const [what, base, over, merged] of [
    ["an external volume", "{name: a}", "{external: true}", { name: "a", external: true }],
    ["a name of it", "{external: true}", "{name: b}", { name: "b", external: true }],
    ["its older form", "{external: {name: a}}", "{}", { name: "a", external: true }],
    ["an own volume", "{external: true, name: a}", "{external: false}", { name: "a" }],
    ["a volume with driver", "{driver: x, driver_opts: {a: '1'}}", "{driver_opts: {b: '2'}}", {
      name: "shop_data",
      driver: "x",
      driver_opts: { a: "1", b: "2" },
    }],
    ["a replaced volume", "{driver: x, name: a}", "!override {name: b}", { name: "b" }],
    ["a volume without its name", "{driver: x, name: a}", "{name: !reset null}", {
      name: "shop_data",
      driver: "x",
    }],
    ["a removed volume", "{driver: x, name: a}", "!reset {}", undefined],
  ] as const
) {
  Deno.test(`an override merges ${what}`, async () => {
    const { volumes } = await load(
      `services: {}\nvolumes:\n  data: ${base}`,
      `volumes:\n  data: ${over}`,
    );

    deepEqual(volumes.data, merged);
  });
}

Deno.test("an override cannot give settings to an external volume", async () => {
  const { errors } = await loadFiles(
    "services: {}\nvolumes:\n  data: {external: true}",
    { [OVERRIDE]: "volumes:\n  data: {driver: x}" },
    { configFiles: ["compose.yaml", OVERRIDE] },
  );

  deepEqual(errors.map(({ file, line, path, message }) => `${file}:${line} ${path} ${message}`), [
    `${OVERRIDE}:2 volumes.data.driver must not be given together with external`,
  ]);
});

Deno.test("an override merges the settings of a subnet, and replaces other subnets", async () => {
  const { networks } = await load(
    "services: {}\nnetworks:\n  a: {ipam: {options: {x: '1'}, config: [{subnet: 192.0.2.0/25, gateway: 192.0.2.1}, {subnet: 192.0.2.128/25}]}}",
    "networks:\n  a: {ipam: {config: [{subnet: 192.0.2.0/25, ip_range: 192.0.2.64/26}, {subnet: 198.51.100.0/24}]}}",
  );

  deepEqual(networks.a!.ipam, {
    options: { x: "1" },
    config: [
      { subnet: "192.0.2.0/25", gateway: "192.0.2.1", ip_range: "192.0.2.64/26" },
      { subnet: "198.51.100.0/24" },
    ],
  });
});

Deno.test("an override removes and replaces services and sections", async () => {
  const base = "services:\n  a: {image: a, user: u}\n  b: {image: b}\nvolumes: {x: , y: }";

  deepEqual(
    (await load(base, "services:\n  b: !reset null\n  a: !override {image: c}")).services,
    { a: { image: "c", networks: { default: null } } },
  );
  deepEqual(Object.keys((await load(base, "volumes: !override {z: }")).volumes), ["z"]);
  deepEqual((await load(base, "volumes: !reset {}")).volumes, {});
  deepEqual((await load(base, "services: !reset {}")).services, {});
});

Deno.test("tags change the files before them in one include", async () => {
  const { project, errors } = await loadFiles("include:\n  - path: [base.yaml, over.yaml]", {
    "base.yaml":
      "services:\n  web: {image: a, ports: ['80:80'], labels: {a: '1'}}\nvolumes: {data: }",
    "over.yaml":
      "services:\n  web: {ports: !reset [], labels: !override {b: '2'}}\nvolumes: !reset {}",
  });

  deepEqual(errors, []);
  deepEqual(project!.volumes, {});
  const { ports, labels } = project!.services.web!;
  deepEqual({ ports, labels }, { ports: undefined, labels: { b: "2" } });
});

Deno.test("tags without a file before: !reset is nothing, !override has no effect", async () => {
  const { project, errors } = await loadFiles(
    "services:\n  web:\n    image: a\n    ports: !reset ['80:80']\n    user: !override u\n  db: !reset {image: b}",
    {},
  );

  deepEqual(errors, []);
  deepEqual(project!.services, { web: { image: "a", user: "u", networks: { default: null } } });
});

Deno.test("tags are followed through anchors and merge keys", async () => {
  const { services } = await load(
    "services:\n  a: {image: a, ports: ['80:80'], user: u}\n  b: {image: b, ports: ['81:81']}",
    "x-none: &none\n  ports: !reset []\nservices:\n  a: {<<: *none}\n  b: *none",
  );

  equal(services.a!.ports, undefined);
  equal(services.b!.ports, undefined);
  equal(services.a!.user, "u");
});

Deno.test("other tags, and tags of entries of a list, are errors", async () => {
  const problems = async (keys: string) =>
    (await loadFiles(`services:\n  web:\n    image: a\n    ${keys}`, {})).errors
      .map(({ line, column, path, message }) => `${line}:${column} ${path} ${message}`);

  deepEqual(await problems("user: !env USER"), ["4:11  has a tag that is not supported: !env"]);
  deepEqual(await problems("ports: ['80:80', !reset '81:81']"), [
    "4:29 services.web.ports[1] has !reset, which only keys of maps may have",
  ]);
  deepEqual(await problems("user: !!str 5"), []);
  deepEqual(await problems("environment: {A: !!int 5, B: !!null null}"), []);
});

Deno.test("the same part in an included file may have its keys in another order", async () => {
  const { errors } = await loadFiles(
    "include: [a.yaml]\nservices: {}\nnetworks:\n  back: {driver: bridge, internal: true}",
    { "a.yaml": "networks:\n  back: {internal: true, driver: bridge}" },
  );

  deepEqual(errors, []);
});

Deno.test("names of the language are names of services and networks like others", async () => {
  const { services } = await load(
    "services:\n  constructor: {image: a, networks: {toString: {aliases: [x]}}}\nnetworks: {toString: }",
    "services:\n  constructor: {networks: {toString: }, labels: {valueOf: x}}",
  );

  deepEqual(Object.keys(services), ["constructor"]);
  deepEqual(services.constructor, {
    image: "a",
    networks: { toString: { aliases: ["x"] } },
    labels: { valueOf: "x" },
  });
});

Deno.test("a file of the environment sees those before it, and the service's own variables", async () => {
  const { project, errors } = await loadFiles(
    `services:
  web:
    image: a
    env_file: [common.env, app.env, {path: raw.env, format: raw}, {path: none.env, required: false}]
    environment: {REGION: eu, FROM_PROJECT: , HOST_COPY: "\${DB_HOST:-none}"}`,
    {
      "common.env": "DB_HOST=db.internal\nTAG=file",
      "app.env": "URL=postgres://app@${DB_HOST}/app\nBUCKET=app-${REGION}\nVERSION=$TAG\nABSENT",
      "raw.env": "RAW='$DB_HOST'",
    },
    { env: "TAG=project\nFROM_PROJECT=p" },
  );

  deepEqual(errors, []);
  deepEqual(project!.services.web!.environment, {
    DB_HOST: "db.internal",
    TAG: "file",
    URL: "postgres://app@db.internal/app",
    BUCKET: "app-eu",
    VERSION: "project",
    RAW: "'$DB_HOST'",
    REGION: "eu",
    FROM_PROJECT: "p",
    HOST_COPY: "none",
  });
});

Deno.test("a file of labels sees those before it only", async () => {
  const { project } = await loadFiles(
    "services:\n  web:\n    image: a\n    label_file: [a.labels, b.labels]\n    labels: {own: x}",
    { "a.labels": "team=a\ncolor=#fff", "b.labels": "owner=${team}-${TAG:-none}" },
    { env: "TAG=project" },
  );

  deepEqual(project!.services.web!.labels, {
    team: "a",
    color: "#fff",
    owner: "a-none",
    own: "x",
  });
});

Deno.test("the env files of an include see each other, and /dev/null means none", async () => {
  const image = async (envFile: string) => {
    const { project, errors } = await loadFiles(
      `include:\n  - {path: db/compose.yaml, env_file: ${envFile}}`,
      {
        "db/compose.yaml": "services: {db: {image: 'postgres:${TAG-none}'}}",
        "db/.env": "TAG=default",
        "a.env": "MAJOR=17",
        "b.env": "TAG=$MAJOR-alpine",
      },
    );
    deepEqual(errors, []);
    return project!.services.db!.image;
  };

  equal(await image("[a.env, b.env]"), "postgres:17-alpine");
  equal(await image("/dev/null"), "postgres:none");
});

for (
  const [what, keys] of [
    ["include", "include: ['oci://registry.example/shop:1']"],
    ["include", "include: [{path: [a.yaml, 'https://git.example/shop.git']}]"],
    ["extends", "services: {web: {extends: {file: 'git@git.example:shop.git', service: a}}}"],
    ["extends", "services: {web: {extends: {file: 'ssh://git.example/shop.git', service: a}}}"],
  ] as const
) {
  Deno.test(`${what} refuses remote files: ${keys}`, async () => {
    const { errors } = await loadFiles(keys, { "a.yaml": "services: {}" });

    equal(errors[0]!.message, "remote files are not supported; copy the file to the project");
  });
}
