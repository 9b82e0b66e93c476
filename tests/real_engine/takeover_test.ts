import { deepEqual, equal, match, ok } from "node:assert/strict";
import { join } from "node:path";
import { engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";
import { type Layout, service, type TakeoverHost, takeoverHost } from "../helpers/takeover_host.ts";

const compose = (services: Record<string, string>, more = "") =>
  'version: "3.8"\nservices:\n' +
  Object.entries(services).map(([name, body]) => `  ${name}: {${body}}\n`).join("") + more;

/** Stacks as several managers lay them out, each with one container or two. */
function layouts({ name, root, stacks }: TakeoverHost): Record<string, Layout> {
  const data = join(root, "data/compose/12");
  const inside = join(root, "app/projects/inside");
  return {
    // A directory for each stack, with `.env` and data next to the file.
    host: {
      name: name("host"),
      files: {
        [join(stacks, "host/docker-compose.yml")]: compose({
          web: service('volumes: ["./data:/data"], environment: {TAG: "$TAG"}'),
        }),
        [join(stacks, "host/.env")]: "TAG=7\n",
      },
    },
    profiles: {
      name: name("profiles"),
      args: ["--profile", "debug"],
      files: {
        [join(stacks, "profiles/docker-compose.yml")]: compose({
          web: service(),
          shell: service("profiles: [debug]"),
          other: service("profiles: [other]"),
        }),
        [join(stacks, "profiles/docker-compose.override.yml")]: compose({
          web: "labels: {over: ridden}",
        }),
      },
    },
    secret: {
      name: name("secret"),
      env: { DB_PASSWORD: "s3cret-of-the-shell", DB_LEVEL: "debug" },
      files: {
        [join(stacks, "secret/docker-compose.yml")]: compose({
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

/** The host of the test: all stacks, and the managers of two. */
async function fill(engine: RealEngine, host: TakeoverHost) {
  await using stack = new AsyncDisposableStack();
  const all = layouts(host);
  for (const layout of Object.values(all)) await host.deploy(layout);
  const { root, name, stacks } = host;

  const volume = name("managed");
  stack.defer(async () => void await engine.docker("volume", "rm", volume));
  stack.use(
    await host.manager({
      name: name("manager"),
      source: volume,
      at: join(root, "data"),
      from: join(root, "data"),
    }),
  );
  await Deno.remove(join(root, "data/compose/12/v1"), { recursive: true });
  await Deno.remove(join(root, "data/compose/12/v2/docker-compose.yml"));
  await Deno.remove(join(root, "data/compose/12/v2/stack.env"));

  const projects = join(root, "projects");
  await Deno.rename(join(root, "app/projects"), projects);
  await Deno.mkdir(join(root, "app/projects/inside"), { recursive: true });
  stack.use(
    await host.manager({ name: name("panel"), source: projects, at: join(root, "app/projects") }),
  );
  await Deno.remove(join(root, "lost"), { recursive: true });
  // The same services, from an included file.
  const [path = ""] = Object.keys(all.profiles!.files);
  await host.write({
    [path]: "include: [more.yml]\nservices:\n  web: {" + service() + "}\n",
    [join(stacks, "profiles/more.yml")]: compose({
      shell: service("profiles: [debug]"),
      other: service("profiles: [other]"),
    }),
    [join(stacks, "ready/compose.yaml")]: compose({ app: service() }),
    [join(stacks, "broken/compose.yaml")]: "services: {app: {imag: x}}\n",
  });
  /** All files of the host and of the volume. */
  const texts = async () => [
    await run("find", root, "-type", "f", "-exec", "sha256sum", "{}", "+"),
    await engine.docker(
      "exec",
      name("manager"),
      "sh",
      "-c",
      `cd ${root}/data; find . -type f -exec sha256sum {} +`,
    ),
  ];
  const written = await texts();
  const resources = stack.move();
  return { all, texts, written, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command(command, { args }).output();
  return new TextDecoder().decode(stdout);
}

interface FoundStack {
  name: string;
  source: { kind: string; path: string | null; through?: string };
  plan: { changesNothing: boolean; recreates: string[]; reasons: string[] } | null;
  notes: string[];
}

if (!missingProgram("docker-compose")) {
  engineTest(
    "stacks of other programs are taken over without a container touched",
    async (engine) => {
      await using host = await takeoverHost(engine);
      await using filled = await fill(engine, host);
      const { app, root, name } = host;
      const { all } = filled;
      const before = await host.states();

      const report = await host.scan();
      const own = new Map<string, FoundStack>(
        report.stacks.filter((each: FoundStack) =>
          Object.values(all).some((layout) => layout.name === each.name)
        ).map((each: FoundStack) => [each.name, each]),
      );
      const shown = Object.fromEntries(
        Object.entries(all).map(([key, { name }]) => {
          const { source, plan } = own.get(name)!;
          return [key, [source.kind, source.through ?? null, plan?.changesNothing, plan?.reasons]];
        }),
      );
      deepEqual(shown, {
        host: ["host", null, true, []],
        profiles: ["host", null, true, []],
        secret: ["host", null, true, []],
        volume: ["mount", name("manager"), true, []],
        inside: ["mount", name("panel"), true, []],
        lost: ["generated", null, true, []],
        elsewhere: ["generated", null, true, []],
      });
      deepEqual(own.get(all.secret!.name)!.notes, [
        "Recovered from the containers, because no file has them: DB_PASSWORD, DB_LEVEL",
      ]);
      const directories = report.directories.filter(({ path }: { path: string }) =>
        path.startsWith(host.stacks)
      ).map(({ name, services, error }: Record<string, unknown>) => [name, services, error]);
      deepEqual(directories, [
        ["broken", [], "1: services.app.imag is unknown; did you mean image?"],
        ["ready", ["app"], undefined],
      ]);
      const programs = report.managers.map(({ container }: { container: string }) => container);
      ok(!programs.includes(name("manager")), "a program without the socket deploys nothing");
      ok(!JSON.stringify(report).includes("s3cret"), "no value leaves the service");

      // All at once; a file of the host that is not below STACK_ROOTS is the administrator's choice.
      const elsewhere = join(root, "elsewhere/docker-compose.yml");
      const names = Object.values(all).map(({ name }) => name);
      const started = await app.call("POST", "/api/takeover", {
        stacks: names,
        sources: { [all.elsewhere!.name]: { kind: "host", path: elsewhere } },
      });
      equal(started.status, 202, JSON.stringify(started.body));
      const job = await host.ended(started.body.id);
      equal(job.status, "succeeded", JSON.stringify(job));
      deepEqual(job.result, { taken: names.toSorted(byTurn(names)), refused: [] });
      ok(!JSON.stringify(job).includes("s3cret"));
      deepEqual(await host.states(), before);

      for (const each of names) {
        const plan = await app.call("POST", `/api/stacks/${each}/plan`, {});
        equal(plan.status, 200, JSON.stringify(plan.body));
        const changed = plan.body.changes.filter(({ action }: { action: string }) =>
          action !== "none"
        );
        deepEqual(changed, [], each);
      }
      const { managed, stacks: left } = await host.scan();
      deepEqual(
        managed.filter((each: FoundStack) => each.name === all.elsewhere!.name),
        [{ name: all.elsewhere!.name, source: { kind: "host", path: elsewhere }, version: 1 }],
      );
      ok(!left.some((each: FoundStack) => names.includes(each.name)));
      const again = await app.call("POST", "/api/takeover", { stacks: [names[0]] });
      equal(again.status, 409);

      await editOne(host, all.volume!.name);
      const states = await host.states();
      for (const each of names) {
        equal((await app.call("DELETE", `/api/takeover/${each}`)).status, 200);
        equal((await app.call("DELETE", `/api/takeover/${each}`)).status, 404);
      }
      deepEqual(await host.states(), states);
      deepEqual(await filled.texts(), filled.written);
      equal(await host.helpers(), 0);
    },
  );
}

const byTurn = (names: string[]) => (a: string, b: string) => names.indexOf(a) - names.indexOf(b);

/** Edits a service of a stack whose files another program has; only its container changes. */
async function editOne({ app, states, ended, inspect, root }: TakeoverHost, stack: string) {
  const before = await states();
  const { body: source } = await app.call("GET", `/api/stacks/${stack}/source`);
  deepEqual([source.managed, source.directory], ["stored", null]);
  const edited = await app.call("PUT", `/api/stacks/${stack}/source`, {
    compose: source.compose.replace("$NAME", "edited"),
    env: source.env,
    files: source.files,
    expectedVersion: 1,
  });
  equal(edited.status, 200, JSON.stringify(edited.body));
  const deploy = await app.call("POST", `/api/stacks/${stack}/deploy`, { stableSeconds: 1 });
  const job = await ended(deploy.body.id);
  equal(job.status, "succeeded", JSON.stringify(job));
  const after = await states();
  deepEqual(
    Object.keys(after).filter((each) => after[each] !== before[each]).length,
    1,
  );
  const [web] = await inspect(stack);
  equal(web!.Config.Hostname, "edited");
  deepEqual(web!.Mounts?.map(({ Source }) => Source), [join(root, "data/compose/12/v2/site")]);
  match(
    web!.Config.Labels?.["com.docker.compose.project.config_files"] ?? "",
    /v2\/docker-compose/,
  );
}
