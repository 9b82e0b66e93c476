import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { CommandError } from "../../commands/program.ts";
import { update } from "../../commands/update.ts";
import { updates } from "../../commands/updates.ts";
import { automaticActor } from "../../services/access/audit/audit.ts";
import { getJob } from "../../services/jobs/jobs.ts";
import { startUpdateNow } from "../../services/updates/automatic/scheduled.ts";
import { createUpdater } from "../../services/updates/automatic/updater.ts";
import { changeUpdateSettings } from "../../services/updates/settings.ts";
import { runCommand } from "../helpers/command.ts";
import { LOOPBACK_ALLOWED } from "../helpers/fake_system.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { startRegistry } from "../helpers/registry.ts";
import { until } from "../helpers/until.ts";

const REPOSITORY = "app:1";

const admin = { userId: "key", role: "admin", familyId: "", address: "192.0.2.1" } as const;

/**
 * Makes an image that differs from all others, with a health check, which decides sooner than the
 * shortest time without one.
 *
 * @returns Its id.
 */
async function makeImage(engine: RealEngine): Promise<string> {
  const base = await engine.docker("create", BUSYBOX, "true");
  const command = JSON.stringify(["sh", "-c", "trap 'exit 0' TERM; sleep 2147483647 & wait"]);
  const id = await engine.docker(
    "commit",
    `--change=CMD ${command}`,
    `--change=LABEL build=${crypto.randomUUID()}`,
    "--change=HEALTHCHECK --interval=1s CMD true",
    base,
  );
  await engine.docker("rm", base);
  return id;
}

/** Checks the images and returns the status of the one from the registry. */
async function check(app: LiveApp): Promise<string> {
  const { body: job } = await app.call("POST", "/api/updates/check", {});
  await ended(app, job.id);
  const { body } = await app.call("GET", "/api/updates");
  return statusOf(body.updates);
}

/** The status of the image from the registry; other containers of the engine have others. */
const statusOf = (updates: { repository: string; status: string }[]) =>
  updates.find(({ repository }) => repository === "app")!.status;

const ended = (app: LiveApp, id: string) =>
  until("the job has ended", () => {
    const job = getJob(app.deps, admin, id);
    return job.endedAt !== null && job;
  });

privateEngineTest(
  "a moved tag is found, and the container is updated by policy, by schedule and by command",
  async (engine) => {
    // The service cannot reach this registry itself, so that it asks the engine.
    await using registry = await startRegistry(engine);
    const publish = async () => {
      const id = await makeImage(engine);
      await registry.push(REPOSITORY, id);
      return id;
    };
    const imageOf = (name: string) => engine.docker("inspect", "--format={{.Image}}", name);
    const first = await publish();
    const reference = `${registry.address}/${REPOSITORY}`;
    await engine.docker("run", "--detach", "--name=web", "--stop-timeout=1", reference);
    await using _web = {
      async [Symbol.asyncDispose]() {
        await engine.docker("rm", "--force", "web");
      },
    };
    equal(await imageOf("web"), first);
    let leadMs = 0;
    {
      await using app = await liveApp(engine.socketPath, { config: LOOPBACK_ALLOWED });
      app.deps.now = () => new Date(Date.now() + leadMs);
      changeUpdateSettings(app.deps, {
        enabled: true,
        policy: "auto",
        minimumAgeHours: 0,
        windows: [{ cron: "0 0 * * *", timeZone: "UTC", durationMinutes: 1_440 }],
      });
      equal(await check(app), "up_to_date");

      const second = await publish();
      equal(await check(app), "update_available");
      const updater = createUpdater(app.deps);
      await updater.next();
      equal((await app.call("GET", "/api/jobs?kind=container.update")).body.jobs.length, 0);
      leadMs = 11 * 60_000;
      await updater.next();
      const [job] = (await app.call("GET", "/api/jobs?kind=container.update")).body.jobs;
      equal((await ended(app, job.id)).status, "succeeded");
      equal(await imageOf("web"), second);
      equal(await check(app), "up_to_date");
      await updater.next();
      const { entries } = (await app.call("GET", "/api/audit?limit=5")).body;
      deepEqual(
        entries.filter(({ action }: { action: string }) => action === "automatic update")
          .map(({ target, outcome }: Record<string, string>) => [target, outcome]),
        [["web", "success"]],
      );

      const third = await publish();
      const web = await until(
        "the new container is known",
        () => app.deps.inventory.list().find(({ name }) => name === "web"),
      );
      const started = await startUpdateNow(app.deps, web, automaticActor("schedule"));
      await ended(app, started!.id);
      equal(await imageOf("web"), third);
    }

    const fourth = await publish();
    await using service = await startLongshore({
      engineSocket: engine.socketPath,
      env: { OUTBOUND_ALLOW: "127.0.0.0/8" },
    });
    const env = { DATA_DIR: service.dataDir, API_KEY: service.apiKey };
    const print = async (command: typeof updates, ...args: string[]) => {
      const lines: string[] = [];
      const status = await command({
        args,
        env: { LONGSHORE_URL: service.baseUrl, LONGSHORE_TOKEN: await service.token() },
        surroundings: {} as never,
        input: Deno.stdin,
        print: (line) => lines.push(line),
        note: () => {},
        signal: new AbortController().signal,
      });
      equal(status, 0);
      return lines.join("\n");
    };
    match(
      await print(updates),
      /^IMAGE +STATUS +NEWER +CONTAINERS\n[^]*app:1 +unknown \(not checked yet\)/,
    );
    match(await print(updates, "--check"), /app:1 +update available +web$/m);
    equal(statusOf(JSON.parse(await print(updates, "--json")).updates), "update_available");
    match(await print(update, "web", "--plan"), /^web would be updated to .*app:1/);

    // The program itself finds the service by its data directory.
    const updated = await runCommand(["update", "web"], { env });
    deepEqual([updated.code, updated.stdout], [0, "web was updated.\n"], updated.stderr);
    match(updated.stderr, /Verify the new container: succeeded/);
    equal(await imageOf("web"), fourth);
    match(await print(update, "web"), /^web is up to date: it already runs .*app:1\.$/);
    equal(await imageOf("web"), fourth);
    await rejects(print(update, "no-such-container"), CommandError);
  },
);
