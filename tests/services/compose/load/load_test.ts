import { deepEqual, equal, match, ok } from "node:assert/strict";
import { loadProject, type ProjectSources } from "../../../../services/compose/load/load.ts";
import { dependenciesOf } from "../../../../services/compose/load/resolve.ts";

/** The issues as `LINE:COLUMN PATH MESSAGE`, with the file of those in other files. */
async function problems(
  compose: string,
  sources: Partial<ProjectSources> = {},
): Promise<string[]> {
  const { errors, project } = await loadProject({ compose, ...sources });
  equal(project === undefined, errors.length > 0);
  return errors.map(({ path, file, line, column, message }) =>
    `${file === null ? "" : `${file}:`}${line}:${column} ${path} ${message}`
  );
}

/** A Compose text of one service, with further keys. */
const service = (keys: string) => `services:\n  web:\n    image: nginx\n    ${keys}\n`;

async function load(compose: string, sources: Partial<ProjectSources> = {}) {
  const { project, errors } = await loadProject({ compose, ...sources });
  deepEqual(errors, []);
  return project!;
}

const files = (texts: Record<string, string>) => ({
  readFile: (path: string) => Object.hasOwn(texts, path) ? texts[path] : undefined,
});

for (
  const [keys, problem] of [
    ["volume: []", "4:5 services.web.volume is unknown; did you mean volumes?"],
    ["net: host", "4:5 services.web.net was replaced by network_mode"],
    ["flavor: 1", "4:5 services.web.flavor is not a key of this map"],
    [
      "privileged: yes",
      "4:17 services.web.privileged must be true or false; yes is text in YAML 1.2",
    ],
    ["hostname: 12", '4:15 services.web.hostname must be a string; write "12"'],
    [
      "restart: sometimes",
      "4:14 services.web.restart must be one of no, always, unless-stopped, on-failure, on-failure:ATTEMPTS",
    ],
    [
      "ports: [70000]",
      "4:13 services.web.ports[0] must have a port or a range of ports from 1 to 65535, not 70000",
    ],
    [
      "ports: ['1-3:1-2']",
      "4:13 services.web.ports[0] must have ranges of the same size for the host and the container",
    ],
    ["volumes: ['data:/data']", "4:15 services.web.volumes[0] volume data is not defined"],
    ["volumes: [/a, '/b:/a/']", "4:19 services.web.volumes[1] is the second mount at /a"],
    [
      "volumes: ['~/a:/a']",
      "4:15 services.web.volumes[0] must not begin with ~: the service has no home directory; write the full path",
    ],
    [
      "volumes: ['/a:/a:rx']",
      "4:15 services.web.volumes[0] has the unknown mode rx; the usual one is ro",
    ],
    ["networks: [back]", "4:16 services.web.networks.back network back is not defined"],
    ["depends_on: [db]", "4:18 services.web.depends_on.db service db is not defined"],
    ["depends_on: [web]", "4:5 services.web.depends_on services depend on each other: web, web"],
    ["secrets: [key]", "4:15 services.web.secrets[0] secret key is not defined"],
    ["post_start: [{user: root}]", "4:18 services.web.post_start[0] must have command"],
    ["pre_stop: [{command: []}]", "4:16 services.web.pre_stop[0] must have command"],
    ["env_file: app.env", "4:5 services.web.env_file[0] file ./app.env does not exist"],
    ["mem_limit: much", "4:16 services.web.mem_limit must be a size such as 512m or 2g"],
    ["stop_grace_period: 10", '4:24 services.web.stop_grace_period must be a string; write "10"'],
    [
      "stop_grace_period: 1 day",
      "4:24 services.web.stop_grace_period must be a duration with units, such as 30s or 1m30s",
    ],
    [
      "healthcheck: {test: [curl]}",
      "4:25 services.web.healthcheck.test must begin with NONE, CMD or CMD-SHELL",
    ],
    [
      "oom_score_adj: 2000",
      "4:20 services.web.oom_score_adj must be a whole number from -1000 to 1000",
    ],
    ["command: 'a \"b'", '4:14 services.web.command has an opening " without its end'],
    [
      "credential_spec: {}",
      "4:22 services.web.credential_spec is not supported: it is for Windows containers",
    ],
    ["extends: base", "4:5 services.web.extends service base does not exist"],
    ["extends: web", "4:5 services.web.extends extends itself: services.web, services.web"],
    [
      "network_mode: host\n    networks: [default]",
      "4:5 services.web.network_mode must not be given together with networks",
    ],
    [
      "container_name: one\n    scale: 2",
      "4:5 services.web.container_name must not be given for more than one container",
    ],
    ["user: root\n    user: nginx", "5:5 services.web.user is given twice"],
    [
      "command: echo ${1}",
      "4:14 services.web.command has ${ without the name of a variable; write $${ for these signs",
    ],
    ["command: ${A:?no value}", "4:14 services.web.command variable A is required: no value"],
    ["command: ${A", "4:14 services.web.command has no } that ends ${A"],
    ["command: ${A!b}", "4:14 services.web.command has ! in ${A, which is not an operator"],
    ["command: !shell a", "4:14  has a tag that is not supported: !shell"],
    [
      "labels: {<<: a}",
      "4:18 services.web.labels.<< must be an alias of a map, or a list of these",
    ],
    ["labels: *unknown", "4:13 services.web.labels unknown anchor unknown"],
    ["labels: {__proto__: a}", "4:14 services.web.labels.__proto__ is not allowed as a name"],
  ] as const
) {
  Deno.test(`await loadProject() refuses ${keys.replace("\n    ", ", ")}`, async () => {
    deepEqual((await problems(service(keys))).slice(0, 1), [problem]);
  });
}

for (
  const [what, text, problem] of [
    ["an empty text", "", "1:1  has nothing in it"],
    ["a list", "- a", "1:1  must be a map with services"],
    [
      "two documents",
      "services: {}\n---\nservices: {}",
      "2:1  must be one YAML document, and another one starts here",
    ],
    ["a service without an image", "services: {web: {}}", "1:12 services.web must have image"],
    [
      "a build without an image",
      "services: {web: {build: .}}",
      "1:18 services.web.build is not supported; give an image",
    ],
    [
      "an external network with settings",
      "networks:\n  a: {external: true, driver: overlay}",
      "2:23 networks.a.driver must not be given together with external",
    ],
    [
      "a secret without a source",
      "secrets: {a: {}}",
      "1:11 secrets.a must have exactly one of file, environment, content and external",
    ],
    [
      "models",
      "models: {llm: {model: a}}\nservices: {web: {models: [llm]}}",
      "1:1 models are not supported: the engine cannot run models",
    ],
    ["format 1", "web:\n  image: nginx", "1:1 web is not a key of this map"],
    [
      "a bad name",
      "name: My App",
      "1:7 name must have lowercase letters, digits, dashes and underscores only, and begin with a letter or digit",
    ],
    ["deep nesting", "[".repeat(200), "1:1  must not be nested deeper than 100 levels"],
    ["a large text", `# ${"a".repeat(1024 * 1024)}`, "1:1  must have at most 1 MiB"],
    [
      "many words",
      `[${"1,".repeat(40_000)}]`,
      "1:1  must have at most 60000 words and signs",
    ],
  ] as const
) {
  Deno.test(`await loadProject() refuses ${what}`, async () => {
    deepEqual((await problems(text)).slice(0, 1), [problem]);
  });
}

Deno.test("await loadProject() reads an anchor once, however many aliases it has", async () => {
  // Positions and depths stay those of every use.
  const deep = (levels: number) => "{a: ".repeat(levels) + "1" + "}".repeat(levels);
  deepEqual(
    await problems(
      `x-a: &a ${deep(60)}\nx-b: ${"{a: ".repeat(30)}*a${"}".repeat(30)}\nservices: {}`,
    ),
    [],
  );
  match(
    (await problems(
      `x-a: &a ${deep(60)}\nx-b: ${"{a: ".repeat(45)}*a${"}".repeat(45)}\nservices: {}`,
    ))[0]!,
    /must not be nested deeper than 100 levels$/,
  );
  const { services } = await load(`x-env: &env {A: "\${B:-c}"}
services:
  a: {image: a, environment: *env}
  b: {image: b, environment: {<<: *env, D: e}}`);
  deepEqual(services.a!.environment, { A: "c" });
  deepEqual(services.b!.environment, { D: "e", A: "c" });
});

Deno.test("await loadProject() refuses variables that would block it", async () => {
  const TOO_LARGE = /makes the project too large once everything is expanded$/;
  const used = "${A:-b}".repeat(30_000);
  match((await problems(`services: {web: {image: "${used}"}}`))[0]!, TOO_LARGE);

  const env = "A=1\n".repeat(30_000);
  match((await problems("services: {}", { env }))[0]!, TOO_LARGE);
  deepEqual(await problems("services: {}", { env: "A=1\n".repeat(20_000) }), []);
});

Deno.test("await loadProject() refuses aliases that multiply", async () => {
  const levels = Array.from({ length: 8 }, (_, level) => {
    const items = Array(8).fill(level === 0 ? "x" : `*a${level - 1}`);
    return `x-${level}: &a${level} [${items.join(", ")}]`;
  });

  const [problem] = await problems(`${levels.join("\n")}\nservices: {}`);

  match(problem!, /makes the project too large once everything is expanded$/);
  const many = `x-a: &a [b]\nx-b: [${"*a, ".repeat(1001)}]\nservices: {}`;
  match((await problems(many))[0]!, /limit of 1000 aliases reached$/);
});

Deno.test("await loadProject() stops at 100 errors", async () => {
  const keys = Array.from({ length: 300 }, (_, n) => `key${n}: 1`).join("\n    ");

  equal((await problems(service(keys))).length, 100);
});

Deno.test("await loadProject() resolves relative paths against the directory", async () => {
  const compose = service("volumes: ['./a:/a', '../b:/b', '.:/c', '/d:/d']");
  const sources = async (directory?: string) =>
    (await load(compose, { directory })).services.web!.volumes!.map(({ source }) => source);

  deepEqual(await sources("/opt/stacks/shop/"), [
    "/opt/stacks/shop/a",
    "/opt/stacks/b",
    "/opt/stacks/shop",
    "/d",
  ]);
  deepEqual(await sources(), ["./a", "../b", ".", "/d"]);
});

Deno.test("await loadProject() warns about what has no effect", async () => {
  const { warnings, errors } = await loadProject({
    compose: `version: "3"\n${
      service(
        "build: .\n    volumes: ['./a:/a', '$EMPTY/b:/b']\n    deploy: {mode: global}\n    post_start: [{command: a}]",
      )
    }`,
  });

  deepEqual(errors, []);
  deepEqual(warnings.map(({ line, path, message }) => `${line} ${path}: ${message}`), [
    "6 services.web.volumes[1]: variable EMPTY is not set, and is replaced with nothing",
    "1 version: is obsolete and has no effect; remove it",
    "6 services.web.volumes[0]: mounts ./a, but the stack has no directory for relative paths",
    "8 services.web.post_start: runs when a deploy starts the container, not at other starts",
    "5 services.web.build: is not supported and has no effect; the image is used",
    "7 services.web.deploy.mode: has an effect in Swarm stacks only",
  ]);
});

Deno.test("await loadProject() names the project and what belongs to it", async () => {
  const compose =
    "name: shop\nservices: {web: {image: '${COMPOSE_PROJECT_NAME}'}}\nvolumes: {data: }";

  deepEqual((await load(compose)).volumes, { data: { name: "shop_data" } });
  deepEqual((await load(compose)).networks, { default: { name: "shop_default" } });
  equal((await load(compose, { name: "other" })).name, "other");
  equal((await load(compose, { env: "COMPOSE_PROJECT_NAME=third" })).name, "third");
  equal((await load("services: {}", { directory: "/opt/stacks/My Shop" })).name, "myshop");
});

Deno.test("await loadProject() includes other files with their own variables and directories", async () => {
  const compose =
    "include:\n  - db/compose.yaml\nservices:\n  web: {image: nginx, depends_on: [db]}";
  const project = await load(compose, {
    directory: "/opt/shop",
    variables: { TAG: "16" },
    ...files({
      "db/compose.yaml":
        "services:\n  db:\n    image: postgres:$TAG-$KIND\n    volumes: [./data:/data]",
      "db/.env": "TAG=1\nKIND=alpine",
    }),
  });

  equal(project.services.db!.image, "postgres:16-alpine");
  equal(project.services.db!.volumes![0]!.source, "/opt/shop/db/data");
});

Deno.test("await loadProject() reports problems of other files with their positions there", async () => {
  const other = "services:\n  base:\n    image: a\n    porst: [80]";

  deepEqual(
    await problems(
      service("extends: {file: base.yaml, service: base}"),
      files({ "base.yaml": other }),
    ),
    ["base.yaml:4:5 base.yaml:services.base.porst is unknown; did you mean ports?"],
  );
  deepEqual(await problems("include: [a.yaml]", files({ "a.yaml": "include: [a.yaml]" })), [
    "a.yaml:1:11 include[0] includes itself, or more than 10 files in a chain: a.yaml",
  ]);
});

Deno.test("await loadProject() leaves services of inactive profiles out", async () => {
  const compose = "services: {web: {image: a}, debug: {image: b, profiles: [dev]}}";
  const names = async (sources?: Partial<ProjectSources>) =>
    Object.keys((await load(compose, sources)).services);

  deepEqual(await names(), ["web"]);
  deepEqual(await names({ profiles: ["dev"] }), ["web", "debug"]);
  deepEqual(await names({ env: "COMPOSE_PROFILES=other,dev" }), ["web", "debug"]);
  deepEqual(
    await problems("services: {web: {image: a, depends_on: [db]}, db: {image: b, profiles: [p]}}"),
    ["1:41 services.web.depends_on.db service db is in a profile that is not active"],
  );
});

Deno.test("await loadProject() reads no variable of its own process", async () => {
  ok(Deno.env.get("PATH"));

  equal((await load(service("hostname: a${PATH-b}"))).services.web!.hostname, "ab");
});

Deno.test("dependenciesOf() includes services whose parts are used", async () => {
  const { services } = await load(
    "services: {db: {image: a}, net: {image: b}, vol: {image: c}, web: {image: d, " +
      "network_mode: 'service:net', volumes_from: ['vol:ro'], depends_on: {db: {condition: service_healthy}}}, " +
      "linked: {image: e, links: ['db:x']}}",
  );

  deepEqual(dependenciesOf(services.web!), {
    db: { condition: "service_healthy", restart: false, required: true },
    vol: { condition: "service_started", restart: true, required: true },
    net: { condition: "service_started", restart: true, required: true },
  });
  deepEqual(dependenciesOf(services.linked!), {
    db: { condition: "service_started", restart: true, required: true },
  });
});

Deno.test("await loadProject() survives mutated files with located errors only", async () => {
  const samples = new URL("../samples/", import.meta.url);
  const texts = ["airflow", "secrets", "ports", "interpolation", "ipam", "long_mounts"]
    .map((name) => Deno.readTextFileSync(new URL(`${name}.yaml`, samples)));
  const random = randomNumbers(20_261_122);
  const signs = [
    "\n",
    "  ",
    ":",
    "- ",
    "&a ",
    "*a",
    "<<: *a",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "|",
    "$",
    "${",
    "!",
    "%",
    "\t",
    "0",
    "null",
    "\0",
    "é",
    "\u{1F600}",
  ];

  for (let round = 0; round < 600; round++) {
    let text = texts[round % texts.length]!;
    for (let change = 0; change <= round % 5; change++) {
      const at = Math.floor(random() * text.length);
      const removed = Math.floor(random() * 20);
      const sign = signs[Math.floor(random() * signs.length)];
      text = text.slice(0, at) + sign + text.slice(at + removed);
    }
    const { project, errors } = await loadProject({ compose: text, directory: "/opt/shop" });
    equal(project === undefined, errors.length > 0, text);
    for (const { line, column, message } of errors) ok(line >= 1 && column >= 1 && message, text);
  }
});

/** The same numbers in every run (mulberry32). */
Deno.test("await loadProject() refuses mounts outside of the allowed directories, with their positions", async () => {
  const refused = (path: string) => `mounts ${path} of the host, which BIND_ALLOW does not allow`;
  const compose = `services:
  web:
    image: nginx
    volumes:
      - /srv/data:/a
      - /srv:/b
      - /srv/../etc:/c
      - /srvother:/d
      - {type: bind, source: ../../etc, target: /e}
      - ./data:/f
      - 'C:\\data:/g'
      - named:/h
volumes:
  named:
    driver_opts: {type: none, o: bind, device: /root}
  overlay:
    driver_opts: {type: overlay, device: overlay, o: "lowerdir=/srv/a:/etc,upperdir=/srv/b"}
  disk:
    driver_opts: {type: ext4, device: /dev/sda1}
  share:
    driver_opts: {type: nfs, device: ":/export", o: addr=192.0.2.1}
secrets:
  key:
    file: /root/.ssh/id_rsa
`;

  deepEqual(
    await problems(compose, {
      directory: "/opt/stacks/shop",
      bindAllow: ["/srv", "/opt/stacks/shop"],
    }),
    [
      `24:5 secrets.key.file ${refused("/root/.ssh/id_rsa")}`,
      `7:9 services.web.volumes[2] ${refused("/etc")}`,
      `8:9 services.web.volumes[3] ${refused("/srvother")}`,
      `9:9 services.web.volumes[4] ${refused("/opt/etc")}`,
      `11:9 services.web.volumes[6] ${refused("C:\\data")}`,
      "15:40 volumes.named.driver_opts.device must be in a directory that BIND_ALLOW allows",
      `17:19 volumes.overlay.driver_opts.type ${LOCAL_TYPES}`,
      `19:19 volumes.disk.driver_opts.type ${LOCAL_TYPES}`,
    ],
  );
  deepEqual(await problems(compose, { directory: "/opt/stacks/shop", bindAllow: ["/"] }), []);
});

const LOCAL_TYPES = "must be tmpfs, nfs or cifs, or none with o: bind, because of BIND_ALLOW";

function randomNumbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
