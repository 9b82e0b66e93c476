/**
 * Other actions during an update: each is refused, on the container and on one that depends on it.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { createRunStarter } from "../../services/automation/schedules/runs.ts";
import { reportDrill } from "../helpers/drill.ts";
import { liveApp } from "../helpers/live_app.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const MINUTE_MS = 60_000;

/** Method, path below the container, body. */
const ACTIONS: readonly [method: string, path: string, body?: object][] = [
  ["POST", "/start"],
  ["POST", "/stop"],
  ["POST", "/restart"],
  ["POST", "/pause"],
  ["POST", "/kill", { signal: "SIGKILL" }],
  ["POST", "/rename", { name: "longshore-test-drill-other" }],
  ["POST", "/rebuild", { pull: "never" }],
  ["POST", "/update", { pull: "never", force: true }],
  ["DELETE", "?force=1"],
];

engineTest("every other action is refused during an update", async (engine) => {
  const project = `longshore-test-drill-${crypto.randomUUID().slice(0, 8)}`;
  const labels = (service: string) => ({
    "com.docker.compose.project": project,
    "com.docker.compose.service": service,
  });
  await using web = await engine.runContainer({ name: `${project}-web`, labels: labels("web") });
  await using side = await engine.runContainer({
    name: `${project}-side`,
    labels: labels("side"),
    options: [`--network=container:${web.name}`],
  });
  await using app = await liveApp(engine.socketPath);
  app.deps.now = () => new Date();
  try {
    await app.call("POST", "/api/schedules", {
      name: project,
      containerId: web.id,
      containerName: web.name,
      action: "stop",
      cronExpression: "* * * * *",
    });
    const request = { pull: "never", force: true, stableSeconds: 86_400 };
    const started = await app.call("POST", `/api/containers/${web.name}/update`, request);
    equal(started.status, 202, JSON.stringify(started.body));
    const job = async () => (await app.call("GET", `/api/jobs/${started.body.id}`)).body;
    await until("the new container is verified", async () => {
      return (await job()).steps.some(({ name }: { name: string }) => name === "verify");
    });
    const running = await containersOf(project);

    for (const name of [web.name, side.name]) {
      for (const [method, path, body] of ACTIONS) {
        const target = `/api/containers/${name}${path}`;
        const answer = await app.call(method, target, body);
        equal(answer.status, 409, `${method} ${target}: ${JSON.stringify(answer.body)}`);
      }
    }
    for (const action of ["stop", "restart"]) {
      const { body } = await app.call("POST", `/api/stacks/${project}/${action}`);
      deepEqual([body.ok, body.results.map(({ ok }: { ok: boolean }) => ok)], [
        false,
        [false, false],
      ], action);
    }
    const schedules = createRunStarter(app.deps);
    const now = Date.now();
    schedules.startDue(new Date(now - MINUTE_MS), new Date(now));
    await schedules.idle();
    const [run] = (await app.call("GET", "/api/schedules/history")).body.history;
    deepEqual([run.status, /is being updated/.test(run.error)], ["failure", true]);
    deepEqual(await containersOf(project), running);

    // A cancelled update puts the old containers back.
    equal((await app.call("POST", `/api/jobs/${started.body.id}/cancel`)).status, 202);
    const { status, result } = await until("the update has ended", async () => {
      const now = await job();
      return now.endedAt !== null && now;
    });
    deepEqual([status, result.id], ["rolled_back", web.id]);
    deepEqual(await containersOf(project), [`${side.name} running`, `${web.name} running`]);
    const mode = await engine.docker("inspect", "--format={{.HostConfig.NetworkMode}}", side.id);
    equal(mode, `container:${web.id}`);
    reportDrill(
      "other actions on a container and its dependent during an update",
      `${2 * ACTIONS.length + 3} of ${2 * ACTIONS.length + 3} refused`,
    );
  } finally {
    const names = await engine.docker("ps", "-aq", `--filter=name=${project}`);
    if (names) await engine.docker("rm", "--force", ...names.split("\n"));
  }

  async function containersOf(project: string): Promise<string[]> {
    const format = "--format={{.Names}} {{.State}}";
    const lines = await engine.docker("ps", "--all", `--filter=name=${project}`, format);
    return lines.split("\n").sort();
  }
});
