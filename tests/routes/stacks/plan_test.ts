import { equal, match, ok } from "node:assert/strict";
import { composeLabels, idOf, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

/** A file that repeats variables in what the plan compares as texts. */
const COMPOSE = `
services:
  web:
    image: nginx
    command: [run, "--password=\${QUOTED}"]
    entrypoint: run \${WORDS}
    labels: { note: "\${QUOTED}" }
    healthcheck: { test: "check \${WORDS}" }
    logging: { driver: loki, options: { loki-url: "http://u:option-SECRET@loki", tag: "\${SIMPLE}" } }
    hostname: "\${SIMPLE}"
    user: "\${SIMPLE}"
    extra_hosts: ["\${SIMPLE}:192.0.2.1"]
    sysctls: { kernel.domainname: "\${SIMPLE}" }
    tmpfs: "/run/\${SIMPLE}"
    # The limit of a text is in the middle of the value.
    working_dir: "${"/long".repeat(59)}/\${SIMPLE}"
`;

const PLAIN = "services: { web: { image: nginx } }";

const OLD = { QUOTED: "old-SECRET", SIMPLE: "1", WORDS: "1" };
const NEW = { QUOTED: 'a"SECRET', SIMPLE: "new-SECRET", WORDS: "SECRET 'of several' words" };

/** An engine whose container was created with `password`. */
function engineWith(password: string) {
  const container = { name: "shop-web-1", labels: composeLabels("shop", "web") };
  return fakeEngine({
    ...simulateContainers([container]),
    "GET /containers/*/json": () =>
      Response.json({
        Id: idOf(container.name),
        Name: `/${container.name}`,
        Image: `sha256:${"1".repeat(64)}`,
        State: { Status: "running", Running: true, ExitCode: 0 },
        Config: {
          Image: "nginx",
          Labels: { ...container.labels, note: password },
          Cmd: ["run", `--password=${password}`],
          User: password,
        },
        HostConfig: {
          NetworkMode: "shop_default",
          LogConfig: { Type: "loki", Config: { "loki-url": "http://u:option-SECRET@loki" } },
        },
        NetworkSettings: { Networks: {} },
        Mounts: [],
      }),
    "GET /networks": () => Response.json([]),
    "GET /volumes": () => Response.json({ Volumes: [] }),
    "GET /info": () => Response.json({}),
  });
}

/** Parts of the secret values. */
const SECRET = /SECRET|several|words|\/new/;

Deno.test("a plan shows the values of variables and of log options to admins at most", async () => {
  await using fake = engineWith(OLD.QUOTED);
  using app = testApp({ engine: fake.engine });
  const sources = { compose: COMPOSE, env: OLD };
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...sources });
  const changed = { ...sources, env: NEW, expectedVersion: 1 };
  equal((await app.call("PUT", "/api/stacks/shop/source", changed)).status, 200);

  const plan = (body: object, role: "admin" | "operator") =>
    app.call("POST", "/api/stacks/shop/plan", body, { role });
  const given = { sources: { compose: COMPOSE, env: NEW } };
  for (const body of [{}, given]) {
    const { status, body: shown } = await plan(body, "operator");
    equal(status, 200, JSON.stringify(shown));
    const reasons = shown.changes.flatMap(({ reasons }: typeof shown) => reasons);
    const paths = reasons.map(({ path }: { path: string }) => path);
    for (const path of ["command", "labels.note", "tmpfs./run/********", "user", "working_dir"]) {
      ok(paths.includes(path), `${path} is missing in ${paths}`);
    }
    ok(!SECRET.test(JSON.stringify(shown)), JSON.stringify(shown));
  }

  const many = Array.from({ length: 2001 }, (_, at) => `V${at}=value-${at}\n`).join("");
  const { status, body } = await plan({ sources: { compose: PLAIN, env: many } }, "operator");
  equal(status, 200, JSON.stringify(body));
  equal(body.changes.at(-1).reasons[0].text, "********");

  const texts = JSON.stringify((await plan({}, "admin")).body);
  match(texts, /old-SECRET.*new-SECRET/);
  ok(!texts.includes("option-SECRET"));
});
