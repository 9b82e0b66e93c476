/** Validation finds settings that Compose or the engine would refuse later, or ignore silently. */

import { deepEqual, equal, match } from "node:assert/strict";
import { loadProject, type ProjectSources } from "../../../../services/compose/load/load.ts";
import type { LoadIssue } from "../../../../services/compose/load/scope.ts";

async function issues(compose: string, sources: Partial<ProjectSources> = {}) {
  const { errors, warnings } = await loadProject({ compose, ...sources });
  return { errors: errors.map(describe), warnings: warnings.map(describe) };
}

const describe = ({ line, column, path, message }: LoadIssue) =>
  `${line}:${column} ${path} ${message}`;

const service = (keys: string) => `services:\n  web:\n    image: nginx\n    ${keys}\n`;

for (const image of ["Nginx", "nginx:", "a@sha256:12", "a b", "registry.example/", ":1", "a:b:c"]) {
  Deno.test(`the image ${image} is an error with its position`, async () => {
    deepEqual(await issues(`services:\n  web:\n    image: "${image}"`), {
      errors: [
        "3:12 services.web.image must be a reference such as nginx:1.29 or " +
        "registry.example/team/app:1",
      ],
      warnings: [],
    });
  });
}

for (
  const image of [
    "nginx",
    "nginx:1.29-alpine",
    "team/app",
    "localhost:5000/app",
    "registry.example:5000/team/app:1.0_a@sha256:" + "0a".repeat(32),
    "nginx@sha256:" + "0a".repeat(32),
    "sha256:" + "0a".repeat(32),
    "0a".repeat(32),
  ]
) {
  Deno.test(`the image ${image.slice(0, 50)} is valid`, async () => {
    deepEqual(await issues(service("").replace("nginx", image)), { errors: [], warnings: [] });
  });
}

for (
  const [what, keys, error] of [
    [
      "scale and replicas",
      "scale: 2\n    deploy: {replicas: 3}",
      "4:5 services.web.scale must be equal to deploy.replicas, or be left out",
    ],
    [
      "two numbers of processors",
      "cpus: 1\n    deploy: {resources: {limits: {cpus: '0.5'}}}",
      "4:5 services.web.cpus must be equal to deploy.resources.limits.cpus, or be left out",
    ],
    [
      "two limits of memory",
      "mem_limit: 1g\n    deploy: {resources: {limits: {memory: 512m}}}",
      "4:5 services.web.mem_limit must be equal to deploy.resources.limits.memory, or be left out",
    ],
    [
      "two reservations",
      "mem_reservation: 1g\n    deploy: {resources: {reservations: {memory: 1m}}}",
      "4:5 services.web.mem_reservation must be equal to deploy.resources.reservations.memory, or be left out",
    ],
    [
      "two limits of processes",
      "pids_limit: 1\n    deploy: {resources: {limits: {pids: 2}}}",
      "4:5 services.web.pids_limit must be equal to deploy.resources.limits.pids, or be left out",
    ],
    [
      "count and device_ids",
      "deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: 1, device_ids: ['0']}]}}}",
      "4:51 services.web.deploy.resources.reservations.devices[0] must have either count or device_ids",
    ],
    [
      "count and device_ids of gpus",
      "gpus: [{count: 1, device_ids: ['0']}]",
      "4:12 services.web.gpus[0] must have either count or device_ids",
    ],
    [
      "a device request without capabilities",
      "deploy: {resources: {reservations: {devices: [{count: 1}]}}}",
      "4:51 services.web.deploy.resources.reservations.devices[0] must have capabilities, such as gpu",
    ],
    [
      "pre_start",
      "pre_start: [{command: a}]",
      "4:16 services.web.pre_start is not supported; run it before with the command of another service",
    ],
  ] as const
) {
  Deno.test(`${what} is an error`, async () => {
    deepEqual((await issues(service(keys))).errors, [error]);
  });
}

for (
  const keys of [
    "scale: 3\n    deploy: {replicas: 3}",
    "mem_limit: 1g\n    deploy: {resources: {limits: {memory: 1024m}}}",
    "cpus: '0.5'\n    deploy: {resources: {limits: {cpus: 0.5}}}",
    "pids_limit: 5\n    deploy: {resources: {limits: {cpus: 1}}}",
    "gpus: all",
    "gpus: [{driver: nvidia}]",
  ]
) {
  Deno.test(`${keys.replace("\n    ", " and ")} is valid`, async () => {
    deepEqual((await issues(service(keys))).errors, []);
  });
}

for (
  const [option, foreign, type] of [
    ["data:/x:Z", "bind.selinux (Z)", "volume"],
    ["data:/x:ro,z", "bind.selinux (z)", "volume"],
    ["data:/x:rshared", "bind.propagation", "volume"],
    ["/srv:/x:nocopy", "volume.nocopy", "bind"],
    ["{type: volume, source: data, target: /x, bind: {selinux: Z}}", "bind.selinux (Z)", "volume"],
    ["{type: bind, source: /srv, target: /x, tmpfs: {size: 1m}}", "tmpfs.size", "bind"],
    [
      "{type: tmpfs, target: /x, volume: {nocopy: true, subpath: a}}",
      "volume.nocopy, volume.subpath",
      "tmpfs",
    ],
  ] as const
) {
  Deno.test(`${option} has an option of another type, which a warning names`, async () => {
    const { errors, warnings } = await issues(
      `${service(`volumes:\n      - ${option}`)}volumes: {data: }`,
    );

    deepEqual(errors, []);
    deepEqual(warnings, [
      `5:9 services.web.volumes[0] has ${foreign}, without effect on a mount of the type ${type}`,
    ]);
  });
}

for (
  const [what, services, taken] of [
    [
      "another service",
      "a: {image: a, container_name: one}\n  b: {image: b, container_name: one}",
      "3:18 services.b.container_name is also the name of a container of a; choose another one",
    ],
    [
      "a numbered container",
      "a: {image: a, container_name: shop-b-2}\n  b: {image: b, scale: 2}",
      "2:17 services.a.container_name is also the name of a container of b; choose another one",
    ],
  ] as const
) {
  Deno.test(`a container_name that ${what} has is an error`, async () => {
    const { errors } = await issues(`services:\n  ${services}`, { name: "shop" });

    deepEqual(errors.map((error) => error.replace(/^(\d+):\d+/, "$1")), [
      taken.replace(/^(\d+):\d+/, "$1"),
    ]);
  });
}

Deno.test("a container_name that looks like a number of a container is valid", async () => {
  const services = "a: {image: a, container_name: shop-b-3}\n  b: {image: b, scale: 2}\n  " +
    "c: {image: c, container_name: shop-d-1}\n  d: {image: d, container_name: other}\n  " +
    "e: {image: e, container_name: one, profiles: [p]}\n  f: {image: f, container_name: one}";

  deepEqual((await issues(`services:\n  ${services}`, { name: "shop" })).errors, []);
});

Deno.test("models at the top are a warning if each service has an image, otherwise an error", async () => {
  const message = "1:1 models are not supported: the engine cannot run models";
  const models = "models: {llm: {model: a}}\n";

  deepEqual((await issues(models + service("models: [llm]"))).warnings, [
    message,
    "5:5 services.web.models is not supported and has no effect; the image is used",
  ]);
  deepEqual((await issues(`${models}services: {web: {models: [llm]}}`)).errors[0], message);
});

Deno.test("jobs at the top are an error", async () => {
  deepEqual((await issues("jobs: {a: {image: a}}")).errors, [
    "1:7 jobs are not supported; use a service and a schedule",
  ]);
});

Deno.test("external secrets and configs of a service are a warning", async () => {
  const { errors, warnings } = await issues(
    `${
      service("secrets: [a]\n    configs: [b]")
    }secrets:\n  a:\n    external: true\n  unused: {external: true}\nconfigs:\n  b:\n    external: true`,
  );

  deepEqual(errors, []);
  deepEqual(warnings, [
    "8:5 secrets.a.external is true, but only Swarm stacks have external ones",
    "12:5 configs.b.external is true, but only Swarm stacks have external ones",
  ]);
});

Deno.test("a service with build and image is a warning, and its image is listed", async () => {
  const { builds, warnings } = await loadProject({ compose: service("build: .") });

  deepEqual(builds, [{
    image: "nginx",
    file: null,
    line: 4,
    column: 5,
    path: "services.web.build",
    message: "is not supported, and the engine does not have nginx; build or pull it first",
  }]);
  deepEqual(warnings.map(({ message }) => message), [
    "is not supported and has no effect; the image is used",
  ]);
});

Deno.test("COMPOSE_FILE that names other files than the stack has is a warning", async () => {
  const warnings = async (sources: Partial<ProjectSources>) =>
    (await issues("services: {}", sources)).warnings;
  const env = "A=1\nCOMPOSE_FILE=a.yml:b/c.yml";
  const ignored = [
    "1:1 COMPOSE_FILE has no effect: the stack has other Compose files",
  ];

  deepEqual(await warnings({ env }), ignored);
  deepEqual(
    await warnings({ env, directory: "/opt/shop", configFiles: ["/opt/shop/a.yml"] }),
    ignored,
  );
  const configFiles = ["/opt/shop/a.yml", "/opt/shop/b/c.yml"];
  const readFile = () => "services: {}";
  deepEqual(await warnings({ env, directory: "/opt/shop", configFiles, readFile }), []);
  equal((await warnings({ env: "COMPOSE_FILE=" })).length, 0);
});

Deno.test("COMPOSE_ENV_FILES is a warning", async () => {
  deepEqual((await issues("services: {}", { env: "COMPOSE_ENV_FILES=a.env" })).warnings, [
    "1:1 COMPOSE_ENV_FILES has no effect: write the variables into .env itself",
  ]);
});

Deno.test("a name that is not that of the stack is a warning", async () => {
  const warnings = async (compose: string, sources: Partial<ProjectSources>) =>
    (await issues(compose, sources)).warnings;

  deepEqual(await warnings("services: {}\nname: one", { name: "two" }), [
    "2:1 name is one, but the stack is called two",
  ]);
  deepEqual(await warnings("name: two\nservices: {}", { name: "two" }), []);
  deepEqual(
    await warnings("services: {}", { name: "two", env: "COMPOSE_PROJECT_NAME=one" }),
    ["1:1 name is one, but the stack is called two"],
  );
});

for (
  const [what, first, second, isWarned] of [
    ["the same port", "'80:80'", "'80:81'", true],
    ["a port of one address and of all", "'127.0.0.1:80:80'", "'80:80'", true],
    ["a port of all addresses and of one", "'0.0.0.0:80:80'", "'127.0.0.1:80:80'", true],
    ["ranges with a common port", "'80-82:80-82'", "'82:82'", true],
    ["another protocol", "'80:80'", "'80:80/udp'", false],
    ["another address", "'127.0.0.1:80:80'", "'127.0.0.2:80:80'", false],
    ["a port that the engine chooses", "'0:80'", "'0:80'", false],
    ["a range to choose from", "'8000-8010:80'", "'8000-8010:80'", false],
  ] as const
) {
  Deno.test(`two services that publish ${what}: ${isWarned ? "a warning" : "valid"}`, async () => {
    const { errors, warnings } = await issues(
      `services:\n  a: {image: a, ports: [${first}]}\n  b: {image: b, ports: [${second}]}`,
    );

    deepEqual(errors, []);
    equal(warnings.length, isWarned ? 1 : 0, warnings.join());
    if (isWarned) {
      match(
        warnings[0]!,
        /^3:\d+ services\.b\.ports\[0\] publishes \d+\/tcp of the host, as a does: one cannot start$/,
      );
    }
  });
}

Deno.test("a published port of several containers is a warning", async () => {
  deepEqual((await issues(service("ports: ['80:80']\n    scale: 2"))).warnings, [
    "4:13 services.web.ports[0] publishes 80/tcp of the host for several containers: without Swarm, one can start",
  ]);
  deepEqual((await issues(service("ports: [80]\n    scale: 2"))).warnings, []);
});

for (const policy of ["build", "daily", "every_12h", "refresh"]) {
  Deno.test(`pull_policy: ${policy} is a warning`, async () => {
    deepEqual(await issues(service(`pull_policy: ${policy}`)), {
      errors: [],
      warnings: [
        "4:5 services.web.pull_policy has the effect of missing: nothing is built, and update " +
        "policies refresh images",
      ],
    });
  });
}

Deno.test("configs and secrets that cannot be copied are a warning", async () => {
  const compose = `${service("read_only: true\n    secrets: [a]")}secrets: {a: {file: ./a.txt}}`;
  const readFile = () => "s3cret";

  deepEqual((await issues(compose, { readFile })).warnings, [
    "4:5 services.web.read_only keeps configs and secrets from being copied into the container: " +
    "use files of a stack on disk, which are mounted",
  ]);
  deepEqual((await issues(compose, { readFile, directory: "/opt/shop" })).warnings, []);
});

Deno.test("settings of secrets that only a swarm has are warnings", async () => {
  const compose = `${
    service("secrets: [a]")
  }secrets:\n  a: {driver: x, labels: {b: c}, template_driver: y}\n  unused: {driver: x}`;

  deepEqual((await issues(compose)).warnings, [
    "6:7 secrets.a.driver has an effect in Swarm stacks only",
    "6:18 secrets.a.labels has an effect in Swarm stacks only",
    "6:34 secrets.a.template_driver has an effect in Swarm stacks only",
  ]);
});

Deno.test("an owner of a mounted file is a warning, as Compose warns", async () => {
  const compose = `${
    service("secrets: [{source: a, uid: '5'}, {source: b, mode: 0400}]")
  }secrets: {a: {file: ./a}, b: {environment: B}}`;
  const sources = { env: "B=b", readFile: () => "text" };

  deepEqual((await issues(compose, { ...sources, directory: "/opt/shop" })).warnings, [
    "4:15 services.web.secrets[0] has uid, gid or mode without effect: the file is mounted as it is",
  ]);
  deepEqual((await issues(compose, sources)).warnings, []);
});

Deno.test("names and protocols of applications of ports are warnings", async () => {
  deepEqual(
    (await issues(service("ports: [{target: 80, name: web, app_protocol: http}]"))).warnings,
    [
      "4:26 services.web.ports[0].name has no effect: the engine has no names of ports",
      "4:37 services.web.ports[0].app_protocol has no effect: the engine does not use it",
    ],
  );
});

for (
  const [keys, ...errors] of [
    [
      "network_mode: service:db\n    ports: ['80:80']",
      "5:5 services.web.ports must not be given together with network_mode service:db",
    ],
    [
      "network_mode: container:x\n    hostname: a",
      "5:5 services.web.hostname must not be given together with network_mode container:x",
    ],
    [
      "network_mode: container:x\n    extra_hosts: {a: 192.0.2.1}",
      "5:5 services.web.extra_hosts must not be given together with network_mode container:x",
    ],
    [
      "network_mode: container:x\n    dns: 192.0.2.1",
      "5:5 services.web.dns must not be given together with network_mode container:x",
    ],
    [
      "network_mode: container:x\n    expose: [80]",
      "5:5 services.web.expose must not be given together with network_mode container:x",
    ],
    [
      "network_mode: host\n    links: [db]",
      "5:5 services.web.links must not be given together with network_mode host",
    ],
    ["network_mode: host\n    hostname: a"],
    ["network_mode: none\n    hostname: a"],
    ["network_mode: service:db"],
    [
      "uts: host\n    hostname: a",
      "5:5 services.web.hostname must not be given together with uts: host",
    ],
    [
      "cpus: 1\n    cpu_quota: 50000",
      "5:5 services.web.cpu_quota must not be given together with cpus",
    ],
    ["cpu_period: 100000\n    cpu_quota: 50000"],
    [
      "memswap_limit: 1g",
      "4:5 services.web.memswap_limit must be at least mem_limit, which must be given, too",
    ],
    [
      "mem_limit: 2g\n    memswap_limit: 1g",
      "5:5 services.web.memswap_limit must be at least mem_limit, which must be given, too",
    ],
    ["mem_limit: 1g\n    memswap_limit: 1g"],
    ["mem_limit: 1g\n    memswap_limit: -1"],
    [
      "mem_limit: 1g\n    mem_reservation: 2g",
      "5:5 services.web.mem_reservation must not be above the limit of memory",
    ],
    ["mem_reservation: 2g"],
  ] as const
) {
  const what = keys.replace("\n    ", " and ");
  Deno.test(`${what}: ${errors.length > 0 ? "an error" : "valid"}`, async () => {
    deepEqual((await issues(`${service(keys)}  db: {image: b}`)).errors, errors);
  });
}

Deno.test("ports with network_mode host are a warning", async () => {
  deepEqual((await issues(service("network_mode: host\n    ports: ['80:80']"))).warnings, [
    "5:5 services.web.ports has no effect with network_mode host: all ports are those of the host",
  ]);
});
