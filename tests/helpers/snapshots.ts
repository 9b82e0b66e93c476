/** An application on a real engine that makes snapshots in a directory of its own. @module */

import { equal } from "node:assert/strict";
import { openTarget } from "../../services/backup/targets/targets.ts";
import { type LiveApp, liveApp } from "./live_app.ts";
import type { RealEngine } from "./real_engine.ts";
import { ended, type EndedJob, type TestStack, testStack } from "./test_stack.ts";

export interface SnapshotApp extends AsyncDisposable {
  app: LiveApp;
  stack: TestStack;
  /** Starts a job, and waits for its end. */
  run(path: string, body: object): Promise<EndedJob>;
  /** Runs a shell command in the first container of a service. @returns Its output. */
  exec(service: string, command: string): Promise<string>;
  /** Runs restic on the repository of the default target. @returns Its output. */
  restic(...args: string[]): Promise<string>;
}

/** @param config Further settings. */
export async function snapshotApp(
  real: RealEngine,
  config: Partial<LiveApp["deps"]["config"]> = {},
): Promise<SnapshotApp> {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  const app = await liveApp(real.socketPath, { config: { dataDir, ...config } });
  const stack = testStack(app, real);
  return {
    app,
    stack,
    async run(path, body) {
      const started = await app.call("POST", path, body);
      equal(started.status, 202, JSON.stringify(started.body));
      return await ended(app, started.body.id);
    },
    exec: (service, command) =>
      real.docker("exec", `${stack.name}-${service}-1`, "sh", "-c", command),
    async restic(...args) {
      const { target, password } = await openTarget(app.deps);
      const { code, stdout, stderr } = await new Deno.Command("restic", {
        args: ["--no-cache", "--quiet", "--repo", target.location, ...args],
        env: { RESTIC_PASSWORD: password },
      }).output();
      equal(code, 0, new TextDecoder().decode(stderr));
      return new TextDecoder().decode(stdout);
    },
    async [Symbol.asyncDispose]() {
      await stack.down({ volumes: true }).catch(() => {});
      await stack[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}
