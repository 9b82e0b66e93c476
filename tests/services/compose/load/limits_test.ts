import { deepEqual, equal } from "node:assert/strict";
import { loadProject, type ProjectSources } from "../../../../services/compose/load/load.ts";

const TOO_LARGE = "makes the project too large once everything is expanded";

const firstError = async (compose: string, sources: Partial<ProjectSources> = {}) => {
  const { errors: [error] } = await loadProject({ compose, ...sources });
  return error && `${error.path} ${error.message}`;
};

const long = (length: number) => "a".repeat(length);

for (
  const { what, compose, error } of [
    {
      what: "a key",
      compose: `services: {${long(256)}: {image: nginx}}`,
      error: "services must have only keys of at most 255 characters",
    },
    {
      what: "the name of a variable in a list",
      compose: `services: {web: {image: nginx, environment: [${long(256)}=1]}}`,
      error: "services.web.environment[0] must have a name of at most 255 characters",
    },
    {
      what: "the name of a network in a list",
      compose: `services: {web: {image: nginx, networks: [${long(256)}]}}`,
      error: "services.web.networks[0] must have at most 255 characters",
    },
    {
      what: "the name of a container",
      compose: `services: {web: {image: nginx, container_name: ${long(256)}}}`,
      error: "services.web.container_name must have at most 255 characters",
    },
    {
      what: "a port",
      compose: `services: {web: {image: nginx, ports: ["${"1".repeat(4097)}"]}}`,
      error: "services.web.ports[0] must have at most 4096 characters",
    },
    {
      what: "a variable",
      compose: `services: {web: {image: nginx, environment: {A: ${long(131_073)}}}}`,
      error: "services.web.environment.A must have at most 131072 characters",
    },
    {
      what: "a variable whose value is a number",
      compose: `services: {web: {image: nginx, environment: {A: ${"1".repeat(131_073)}}}}`,
      error: "services.web.environment.A must have at most 131072 characters",
    },
  ]
) {
  Deno.test(`loadProject() limits the length of ${what}`, async () => {
    equal(await firstError(compose), error);
  });
}

Deno.test("loadProject() takes the content of a config as long as a file may be", async () => {
  const compose = `services: {web: {image: nginx, configs: [c]}}\nconfigs: {c: {content: ${
    long(500_000)
  }}}`;
  equal(await firstError(compose), undefined);
});

Deno.test("loadProject() limits names in env files", async () => {
  const compose = "services: {web: {image: nginx, env_file: a.env}}";
  const readFile = (path: string) => path === "a.env" ? `${long(256)}=1` : undefined;
  equal(
    await firstError(compose, { readFile }),
    "services.web.env_file[0] must have a name of at most 255 characters",
  );
});

for (
  const { what, compose, path } of [
    {
      what: "published ports",
      compose: `services: {web: {image: n, ports: [${'"1-8000", '.repeat(5)}]}}`,
      path: "services.web.ports[3]",
    },
    {
      what: "exposed ports",
      compose: `services: {web: {image: n, expose: [${'"1-8000", '.repeat(5)}]}}`,
      path: "services.web.expose[3]",
    },
    {
      what: "aliases of a long string",
      compose: `x-a: &a ${long(120_000)}\nservices: {web: {image: n, command: [${
        "*a, ".repeat(200)
      }]}}`,
      path: "services.web.command[104]",
    },
  ]
) {
  Deno.test(`loadProject() counts ${what}`, async () => {
    equal(await firstError(compose), `${path} ${TOO_LARGE}`);
  });
}

Deno.test("loadProject() counts the words of a file each time it is included", async () => {
  const text = `${"#\n".repeat(25_000)}services: {a: {image: n}}`;
  equal(
    await firstError(`include: [${"a.yaml, ".repeat(10)}]`, { readFile: () => text }),
    ` ${TOO_LARGE}`,
  );
});

Deno.test("loadProject() limits the containers of a project", async () => {
  const compose =
    "services: {a: {image: n, scale: 1000}, b: {image: n, scale: 1000}, c: {image: n}}";
  equal(
    await firstError(compose),
    "services.c is too large: limit of 2000 containers of a project reached",
  );
});

Deno.test("loadProject() shortens messages and paths with text from outside", async () => {
  const names = Array.from({ length: 400 }, (_, index) => `s${index}${long(200)}`);
  const services = names.map((name, index) =>
    `  ${name}: {image: n, depends_on: [${names[(index + 1) % 400]}]}`
  );
  const { errors } = await loadProject({ compose: `services:\n${services.join("\n")}` });
  deepEqual(errors.filter(({ path, message }) => path.length > 301 || message.length > 501), []);
  equal(errors.length > 0, true);
});

Deno.test("loadProject() finds the position of an entry whose key has dots, and of one in a list", async () => {
  const { errors } = await loadProject({
    compose: [
      "services:",
      "  web.a:",
      "    image: n",
      "    labels:",
      "      a.b: {}",
      "    networks: [one.two]",
      "    depends_on:",
      "      - missing.one",
    ].join("\n"),
  });
  deepEqual(errors.map(({ path, line, column }) => [path, line, column]), [
    ["services.web.a.labels.a.b", 5, 12],
    ["services.web.a.networks.one.two", 6, 16],
    ["services.web.a.depends_on.missing.one", 8, 9],
  ]);
});
