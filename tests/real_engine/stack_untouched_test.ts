/** Containers that fail while a job works on others of their stack. @module */

import { deepEqual, equal } from "node:assert/strict";
import { selectProblemsAbout } from "../../db/notification_problems.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { ended, type EndedJob, sleeper, testStack } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

/** It becomes healthy when the test says so: the job works on it until then. */
const awaited = {
  ...sleeper,
  healthcheck: { test: ["CMD", "test", "-e", "/ok"], interval: "300ms", retries: 9999 },
};

interface Running {
  /** Starts the job, which works on `web` after the other container was killed. */
  job: () => Promise<EndedJob>;
  web: () => Promise<string>;
  kill: () => Promise<unknown>;
  real: RealEngine;
}

async function runWhileKilled({ job, web, kill, real }: Running): Promise<EndedJob> {
  const before = await web();
  const running = job();
  const replaced = await until("web is replaced", async () => {
    const id = await web();
    return id !== before && await real.docker("exec", id, "true").then(() => id);
  });
  await kill();
  await real.docker("exec", replaced, "touch", "/ok");
  return await running;
}

long(engineTest)(
  "a deploy and an update report a container that fails beside them",
  async (real) => {
    await using app = await liveApp(real.socketPath);
    await using stack = testStack(app, real);
    const image = `${stack.name}:1`;
    await real.docker("tag", BUSYBOX, image);
    const source = (version: string) => ({
      services: { web: { ...awaited, image, environment: { version } }, db: sleeper },
    });
    await app.call("POST", "/api/notifications/channels", {
      name: "On-call",
      kind: "gotify",
      config: { url: "https://gotify.example.com", token: "t" },
    });
    const [web, db] = [`${stack.name}-web-1`, `${stack.name}-db-1`];
    const warning = `${db} has stopped meanwhile: it exited with code 137`;
    const on = {
      real,
      web: () => real.docker("inspect", "--format={{.Id}}", web).catch(() => ""),
      kill: () => real.docker("kill", db),
    };
    const hasProblem = () =>
      selectProblemsAbout(app.deps.db, [db]).some(({ kind }) => kind === "down");
    try {
      await stack.store(source("1"));
      const first = stack.deploy();
      await until("web can become healthy", () => real.docker("exec", web, "touch", "/ok"));
      equal((await first).status, "succeeded");
      await stack.store(source("2"));

      const deployed = await runWhileKilled({ ...on, job: () => stack.deploy() });

      deepEqual([deployed.status, deployed.result.warnings], ["succeeded", [warning]]);
      await until("the problem is recorded", hasProblem);

      await real.docker("start", db);
      await until("the problem has ended", () => !hasProblem());
      const base = await real.docker("create", BUSYBOX);
      await real.docker("commit", "--change", "ENV N=1", base, image);
      await real.docker("rm", base);
      const update = async () => {
        const options = { pull: "never", stableSeconds: 1 };
        const { body } = await app.call("POST", `/api/stacks/${stack.name}/update`, options);
        return await ended(app, body.id);
      };

      const updated = await runWhileKilled({ ...on, job: update });

      deepEqual([updated.status, updated.result.warnings], ["succeeded", [warning]]);
      await until("the problem is recorded", hasProblem);
      // Containers that the jobs replaced have no problem.
      deepEqual(selectProblemsAbout(app.deps.db, [web]), []);
    } finally {
      await stack.down();
      await real.docker("rmi", "-f", image);
    }
  },
);
