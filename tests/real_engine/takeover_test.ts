import { deepEqual, equal, match, ok } from "node:assert/strict";
import { join } from "node:path";
import { long } from "../helpers/long.ts";
import { inVolume } from "../helpers/manager_layouts.ts";
import { engineTest, podmanTest } from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";
import { service, type TakeoverHost, takeoverHost } from "../helpers/takeover_host.ts";
import { compose, fillHost } from "../helpers/takeover_layouts.ts";

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
      await using filled = await fillHost(engine, host);
      await host.write({
        [join(host.stacks, "ready/compose.yaml")]: compose({ app: service() }),
        [join(host.stacks, "broken/compose.yaml")]: "services: {app: {imag: x}}\n",
      });
      const written = await filled.texts();
      const { app, root, name } = host;
      const { first: all } = filled;
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
        ["broken", [], "Line 1: services.app.imag is unknown; did you mean image?"],
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
      deepEqual(await filled.texts(), written);
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
  deepEqual(web!.Mounts?.map(({ Source }) => Source), [join(root, "data/compose/0/v2/site")]);
  match(
    web!.Config.Labels?.["com.docker.compose.project.config_files"] ?? "",
    /v2\/docker-compose/,
  );
}

long(podmanTest)(
  "a stack in the volume of another program is taken over with Podman",
  async (engine) => {
    await using host = await takeoverHost(engine);
    await using _layout = await inVolume(engine, "/app/data", [
      "projects/blog/compose.yaml",
      "projects/blog/.env",
    ]);
    const { app } = host;
    const format = "--format={{.Id}} {{.State.StartedAt}}";
    const before = await engine.docker("inspect", format, "blog-web-1");

    const { stacks } = await host.scan();
    const blog: FoundStack = stacks.find(({ name }: FoundStack) => name === "blog");
    deepEqual([blog.source.kind, blog.source.through, blog.plan?.reasons], [
      "mount",
      "manager",
      [],
    ]);
    const { body } = await app.call("POST", "/api/takeover", { stacks: ["blog"] });
    const { result } = await host.ended(body.id);
    deepEqual(result, { taken: ["blog"], refused: [] });
    equal((await app.call("DELETE", "/api/takeover/blog")).status, 200);
    equal(await engine.docker("inspect", format, "blog-web-1"), before);
    equal(await host.helpers(), 0);
  },
);
