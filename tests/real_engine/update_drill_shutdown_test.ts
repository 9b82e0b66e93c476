/**
 * The engine is stopped while an update is verified. It stops the new container then, which says
 * nothing about the image.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { getJob } from "../../services/jobs/jobs.ts";
import { ADMIN, reportDrill } from "../helpers/drill.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, ownEngineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

/** Ends with a status when it is stopped; the second is a success for a task. */
const ends = (status: number) => `trap 'exit ${status}' TERM; sleep 2147483647 & wait`;

const CONTAINERS = [
  { name: "longshore-test-shutdown-service", restart: "always", script: ends(1) },
  { name: "longshore-test-shutdown-task", restart: "no", script: ends(0) },
];

long(ownEngineTest)(
  "a shutdown of the engine during the verification is not a failure",
  async (engine) => {
    // Ignores SIGTERM, so that the engine answers for seconds after it has stopped the others.
    await engine.docker("run", "--detach", "--stop-timeout=5", BUSYBOX, "sleep", "2147483647");
    for (const { name, restart, script } of CONTAINERS) {
      const options = [`--restart=${restart}`, `--name=${name}`];
      await engine.docker("run", "--detach", ...options, BUSYBOX, "sh", "-c", script);
    }
    await using app = await liveApp(engine.socketPath);
    // While time stands still, no container that runs is stable.
    const begun = new Date();
    app.deps.now = () => begun;
    const jobs: { name: string; id: string }[] = [];
    for (const { name } of CONTAINERS) {
      const request = { pull: "never", force: true, stableSeconds: 1 };
      const { status, body } = await app.call("POST", `/api/containers/${name}/update`, request);
      equal(status, 202, JSON.stringify(body));
      jobs.push({ name, id: body.id });
    }
    const read = () => jobs.map(({ id }) => getJob(app.deps, ADMIN, id));
    await until(
      "both are verified",
      () => read().every(({ steps }) => steps.some(({ name }) => name === "verify")),
    );

    await engine.stop();
    await engine.restart();
    app.deps.now = () => new Date();

    await until("both updates have ended", () => read().every(({ endedAt }) => endedAt !== null), {
      deadlineMs: 180_000,
    });
    deepEqual(
      read().map(({ status, error }) => [status, error]),
      jobs.map(() => ["succeeded", null]),
    );
    for (const { name } of jobs) {
      equal(await engine.docker("inspect", "--format={{.State.Status}}", name), "running");
    }
    reportDrill("shutdown of the engine during the verification", "succeeded, verified again");
  },
);
