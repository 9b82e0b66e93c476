/** Stacks as several managers lay them out, deployed with `docker-compose`. @module */

import { join } from "node:path";
import type { RealEngine } from "./real_engine.ts";
import { type Layout, service, type TakeoverHost } from "./takeover_host.ts";

export const compose = (services: Record<string, string>, more = "") =>
  'version: "3.8"\nservices:\n' +
  Object.entries(services).map(([name, body]) => `  ${name}: {${body}}\n`).join("") + more;

/** Keys of layouts with files that are found. */
const FOUND = ["host", "profiles", "secret", "volume", "inside"];

/**
 * Layouts with one container or two each.
 *
 * @param turn Distinguishes stacks of the same layout.
 */
function layouts(
  { name: uniqueName, root, stacks }: TakeoverHost,
  turn: number,
): Record<string, Layout> {
  const name = (layout: string) => uniqueName(turn === 0 ? layout : `${layout}${turn}`);
  const stackAt = (layout: string) => join(stacks, name(layout));
  const data = join(root, "data/compose", String(turn));
  const inside = join(root, "app/projects", name("inside"));
  return {
    // A directory for each stack, with `.env` and data next to the file.
    host: {
      name: name("host"),
      files: {
        [join(stackAt("host"), "docker-compose.yml")]: compose({
          web: service('volumes: ["./data:/data"], environment: {TAG: "$TAG"}'),
        }),
        [join(stackAt("host"), ".env")]: "TAG=7\n",
      },
    },
    profiles: {
      name: name("profiles"),
      args: ["--profile", "debug"],
      files: {
        [join(stackAt("profiles"), "docker-compose.yml")]: compose({
          web: service(),
          shell: service("profiles: [debug]"),
          other: service("profiles: [other]"),
        }),
        [join(stackAt("profiles"), "docker-compose.override.yml")]: compose({
          web: "labels: {over: ridden}",
        }),
      },
    },
    secret: {
      name: name("secret"),
      env: { DB_PASSWORD: "s3cret-of-the-shell", DB_LEVEL: "debug" },
      files: {
        [join(stackAt("secret"), "docker-compose.yml")]: compose({
          db: service(
            'environment: ["DB_PASSWORD", "URL=db://u:${DB_PASSWORD}@h", "LEVEL=${DB_LEVEL:-info}"]',
          ),
        }),
      },
    },
    // Versions in the volume of a manager, with the variables in `stack.env`.
    volume: {
      name: name("volume"),
      args: [
        "--env-file",
        join(data, "v2/stack.env"),
        "--file",
        join(data, "v2/docker-compose.yml"),
      ],
      files: {
        [join(data, "v2/docker-compose.yml")]: compose({
          web: service('hostname: "$NAME", env_file: stack.env, volumes: ["./site:/site"]'),
        }),
        [join(data, "v2/stack.env")]: "NAME=two\n",
        [join(data, "v1/docker-compose.yml")]: compose({ web: service("hostname: one") }),
        [join(data, "v1/stack.env")]: "NAME=one\n",
      },
    },
    // The path inside of a manager's container, which has a directory of the host there.
    inside: {
      name: name("inside"),
      files: {
        [join(inside, "compose.yaml")]: compose({ web: service('volumes: ["./data:/data"]') }),
        [join(inside, ".env")]: "A=1\n",
      },
      args: ["--file", join(inside, "compose.yaml")],
    },
    lost: {
      name: name("lost"),
      files: { [join(root, "lost/docker-compose.yml")]: compose({ web: service() }) },
    },
    elsewhere: {
      name: name("elsewhere"),
      files: { [join(root, "elsewhere/docker-compose.yml")]: compose({ web: service() }) },
    },
  };
}

export type FilledHost = Awaited<ReturnType<typeof fillHost>>;

/**
 * Deploys stacks and starts the managers of two layouts. Only these have the files of their stacks in
 * the end.
 *
 * @param turns Number of stacks with each layout whose files are found; others are there once.
 */
export async function fillHost(engine: RealEngine, host: TakeoverHost, turns = 1) {
  await using stack = new AsyncDisposableStack();
  const { root, name } = host;
  const first = layouts(host, 0);
  const more = Array.from({ length: turns - 1 }, (_, at) => layouts(host, at + 1));
  const all = [
    ...Object.values(first),
    ...more.flatMap((each) => FOUND.map((key) => each[key]!)),
  ];
  await inTurns(all, (layout) => host.deploy(layout));
  for (const each of [first, ...more]) await includeServices(host, each.profiles!);

  const volume = name("managed");
  const data = join(root, "data");
  stack.defer(async () => void await engine.docker("volume", "rm", volume));
  stack.use(await host.manager({ name: name("manager"), source: volume, at: data, from: data }));
  await run("find", data, "-type", "f", "-delete");
  const [projects, inside] = [join(root, "projects"), join(root, "app/projects")];
  await Deno.rename(inside, projects);
  stack.use(await host.manager({ name: name("panel"), source: projects, at: inside }));
  await Deno.remove(join(root, "lost"), { recursive: true });

  /** All files of the host and of the volume. */
  const texts = async () => [
    await run("find", root, "-type", "f", "-exec", "sha256sum", "{}", "+"),
    await engine.docker(
      "exec",
      name("manager"),
      "sh",
      "-c",
      `cd ${data}; find . -type f -exec sha256sum {} +`,
    ),
  ];
  const resources = stack.move();
  return { all, first, texts, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Moves services to an included file, which `docker-compose` 1.29 does not know. */
async function includeServices({ write }: TakeoverHost, { files }: Layout): Promise<void> {
  const [path = ""] = Object.keys(files);
  await write({
    [path]: `include: [more.yml]\nservices:\n  web: {${service()}}\n`,
    [join(path, "../more.yml")]: compose({
      shell: service("profiles: [debug]"),
      other: service("profiles: [other]"),
    }),
  });
}

/** Starts a few at a time: each starts a program that takes a second of the processor. */
async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>) {
  const rest = [...items];
  const next = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all([next(), next(), next()]);
}

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command(command, { args }).output();
  return new TextDecoder().decode(stdout);
}
