/** Secrets that the engine repeats in its refusals. @module */

import { equal, match, ok } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";
import { networked, sleeper, testStack } from "../helpers/test_stack.ts";

const SECRET = "hunter22secret";

/** Parts of a Compose file of which the engine repeats a value when it refuses them. */
const REFUSED = {
  "options of a volume": {
    services: { a: { ...sleeper, volumes: ["v:/v"] } },
    volumes: {
      v: { driver_opts: { type: "tmpfs", device: "tmpfs", o: "username=x,pass=${PW}" } },
    },
  },
  "options of a network": {
    services: { a: { ...networked, networks: ["n"] } },
    networks: { n: { driver: "macvlan", driver_opts: { parent: "${PW}" } } },
  },
  "a program of a hook": {
    services: { a: { ...sleeper, post_start: [{ command: ["/none-${PW}"] }] } },
  },
  "a user of a hook": {
    services: { a: { ...sleeper, post_start: [{ command: ["true"], user: "${PW}" }] } },
  },
  "an option of a log driver": {
    services: { a: { ...sleeper, logging: { driver: "syslog", options: { "${PW}": "x" } } } },
  },
  "a command": { services: { a: { ...sleeper, command: ["/none-${PW}"] } } },
};

for (const [part, source] of Object.entries(REFUSED)) {
  engineTest(`the job of a deploy does not show a value of .env in ${part}`, async (real) => {
    await using app = await liveApp(real.socketPath);
    await using stack = testStack(app, real);
    await stack.store(source, { env: { PW: SECRET } });

    const job = await stack.deploy();

    equal(job.status, "rolled_back", job.error ?? "");
    const text = JSON.stringify(job);
    ok(!text.includes(SECRET), text);
  });
}

engineTest("an action on a container does not show options of its volume", async (real) => {
  await using app = await liveApp(real.socketPath);
  const name = `s${crypto.randomUUID().slice(0, 8)}`;
  const options = ["type=tmpfs", "device=tmpfs", `o=username=x,pass=${SECRET}`];
  await real.docker("volume", "create", ...options.map((option) => `--opt=${option}`), name);
  try {
    await real.docker("create", `--name=${name}`, `--volume=${name}:/v`, BUSYBOX, "sleep", "99")
      // A newer engine mounts it here.
      .catch(() => {});
    for (
      const [path, body] of [
        [`/api/containers/${name}/start`, undefined],
        [`/api/containers/${name}/restart`, undefined],
        ["/api/containers/bulk", { ids: [name], action: "start" }],
      ] as const
    ) {
      const response = await app.call("POST", path, body);
      const text = JSON.stringify(response.body);
      match(text, /mount/);
      ok(!text.includes(SECRET), text);
    }
    const detail = JSON.stringify((await app.call("GET", `/api/containers/${name}`)).body);
    ok(!detail.includes(SECRET), detail);
  } finally {
    await real.docker("rm", "-f", name);
    await real.docker("volume", "rm", name);
  }
});
