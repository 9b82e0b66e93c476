/** Uptime monitors in the verdict about an update. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { getJob } from "../../services/jobs/jobs.ts";
import { ADMIN, updateContainer } from "../helpers/drill.ts";
import { fakeReceiver } from "../helpers/fake_receiver.ts";
import { LOOPBACK_ALLOWED } from "../helpers/fake_system.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const MONITORS = "/api/ext/service-pro/uptime/monitors";

async function createMonitor(app: LiveApp, url: string): Promise<string> {
  const { status, body } = await app.call("POST", MONITORS, { name: "shop", type: "http", url });
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

long(engineTest)("an update waits until its monitor succeeds", async (engine) => {
  await using web = await engine.runContainer();
  let status = 503;
  await using shop = fakeReceiver(() => new Response(null, { status }));
  await using app = await liveApp(engine.socketPath, { edition: "pro", config: LOOPBACK_ALLOWED });
  app.deps.now = () => new Date();
  const monitor = await createMonitor(app, shop.url);
  const started = await app.call("POST", `/api/containers/${web.name}/update`, {
    pull: "never",
    force: true,
    stableSeconds: 1,
    monitors: [monitor],
  });
  equal(started.status, 202, JSON.stringify(started.body));
  const job = () => getJob(app.deps, ADMIN, started.body.id);
  try {
    await until(
      "the monitor is waited for",
      () => /fails the check of monitor shop/.test(job().progress?.message ?? ""),
    );
    status = 200;

    await until("the update has ended", () => job().endedAt !== null);

    equal(job().status, "succeeded", job().error ?? "");
    const { body: { checks } } = await app.call("GET", `${MONITORS}/${monitor}/checks`);
    deepEqual(checks, [], "they are not recorded");
  } finally {
    await engine.docker("rm", "--force", web.name);
  }
});

long(engineTest)("an update whose monitor fails is rolled back at the deadline", async (engine) => {
  await using web = await engine.runContainer();
  await using shop = fakeReceiver(() => new Response(null, { status: 503 }));
  await using app = await liveApp(engine.socketPath, { edition: "pro", config: LOOPBACK_ALLOWED });
  app.deps.now = () => new Date();
  const monitors = [await createMonitor(app, shop.url)];
  const request = { pull: "never", force: true, stableSeconds: 1, verifyTimeoutSeconds: 2 };

  const job = await updateContainer(app, web.name, { ...request, monitors });

  equal(job.status, "rolled_back", job.error ?? "");
  match(job.error!, /fails the check of monitor shop after 2 s$/);
  equal(await engine.docker("inspect", "--format={{.State.Running}}", web.id), "true");
  const deleted = await app.call("DELETE", `${MONITORS}/${monitors[0]}`);
  equal(deleted.status, 200, JSON.stringify(deleted.body));
  const path = `/api/containers/${web.name}/update?plan=1`;
  const unknown = await app.call("POST", path, { ...request, monitors });
  deepEqual([unknown.status, unknown.body.error], [
    400,
    `body.monitors: monitor ${monitors[0]} does not exist`,
  ]);
});
