/**
 * Containers through the whole program: what the API says is what the engine does.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

/** Contract: a change by anyone else is in the list this soon, in milliseconds. */
const SEEN_WITHIN_MS = 1_000;

/** A test with the program following the engine. */
function programTest(
  name: string,
  run: (engine: RealEngine, program: Longshore) => Promise<void>,
): void {
  engineTest(name, async (engine) => {
    await using program = await startLongshore({ engineSocket: engine.socketPath });
    await until("the program follows the engine", async () => {
      const { body } = await program.call("GET", "/api/health");
      return body.workers.find((worker: { name: string; lastRoundAt: string | null }) =>
        worker.name === "container watcher"
      )?.lastRoundAt ?? undefined;
    });
    await run(engine, program);
  });
}

/** The container as the list shows it. */
async function listed(program: Longshore, name: string) {
  const { body } = await program.call("GET", `/api/containers?name=${name}`);
  return body.containers[0];
}

programTest(
  "a stop by the engine's own command line is listed within a second",
  async (engine, program) => {
    await using container = await engine.runContainer();
    await until("it is listed", () => listed(program, container.name));
    await engine.docker("stop", container.id);
    const stopped = performance.now();
    await until("it is listed as exited", async () => {
      return (await listed(program, container.name)).state === "exited";
    }, { deadlineMs: SEEN_WITHIN_MS });
    ok(performance.now() - stopped < SEEN_WITHIN_MS);
  },
);

programTest("an action through the API is in the very next read", async (engine, program) => {
  await using container = await engine.runContainer();
  for (let round = 0; round < 5; round++) {
    const stop = await program.call("POST", `/api/containers/${container.id}/stop?t=2`);
    deepEqual(stop.body, {
      ok: true,
      id: container.id,
      name: container.name,
      state: "exited",
      changed: true,
    });
    equal((await listed(program, container.name)).state, "exited");

    const start = await program.call("POST", `/api/containers/${container.id}/start`);
    deepEqual([start.body.state, start.body.changed], ["running", true]);
    equal((await listed(program, container.name)).state, "running");
  }
});

programTest(
  "an action in the wanted state changes nothing and says so",
  async (engine, program) => {
    await using container = await engine.runContainer();
    const again = await program.call("POST", `/api/containers/${container.name}/start`);
    deepEqual([again.status, again.body.changed], [200, false]);
    await program.call("POST", `/api/containers/${container.name}/stop`);
    const stopped = await program.call("POST", `/api/containers/${container.name}/stop`);
    deepEqual([stopped.status, stopped.body.changed], [200, false]);
  },
);

programTest(
  "a container is found by id, prefix and name, and listed in full",
  async (engine, program) => {
    await using container = await engine.runContainer({
      labels: {
        "com.docker.compose.project": "harbour",
        "com.docker.compose.service": "crane",
      },
      options: ["--expose", "8080"],
    });
    const item = await until("it is listed", () => listed(program, container.name));
    deepEqual(
      [item.id, item.state, item.composeProject, item.composeService, item.self, item.restartCount],
      [container.id, "running", "harbour", "crane", false, 0],
    );
    match(item.status, /^Up /);
    deepEqual(item.ports, [{ ip: null, privatePort: 8080, publicPort: null, type: "tcp" }]);
    for (const ref of [container.id, container.id.slice(0, 12), container.name]) {
      const { status, body } = await program.call("GET", `/api/containers/${ref}`);
      deepEqual([status, body.id], [200, container.id]);
    }
    const { body } = await program.call("GET", "/api/containers?stack=harbour");
    deepEqual(body.containers.map((each: { id: string }) => each.id), [container.id]);
  },
);

programTest("a detail shows live stats without waiting for them", async (engine, program) => {
  await using container = await engine.runContainer({
    options: ["--env", "PASSWORD=secret", "--memory", "64m", "--cpus", "0.5", "--pids-limit", "50"],
  });
  const detail = async () => (await program.call("GET", `/api/containers/${container.id}`)).body;
  const { stats } = await until("it is sampled", async () => {
    const body = await detail();
    return body.stats ? body : undefined;
  });
  equal(stats.memoryLimit, 64 * 1024 * 1024);
  ok(stats.memoryUsage > 0 && stats.pids >= 1 && stats.cpuPercent >= 0);

  const started = performance.now();
  const { limits, env } = await detail();
  // The engine itself takes one to two seconds for stats.
  ok(performance.now() - started < 500);
  deepEqual(limits, { memoryBytes: 64 * 1024 * 1024, cpus: 0.5, pids: 50 });
  ok(
    env.some((each: { name: string; value: string }) =>
      each.name === "PASSWORD" && each.value === "secret"
    ),
  );

  await program.call("POST", `/api/containers/${container.id}/stop?t=1`);
  equal((await detail()).stats, null);
});

programTest("a bulk action does all it can", async (engine, program) => {
  await using one = await engine.runContainer();
  await using two = await engine.runContainer();
  const { status, body } = await program.call("POST", "/api/containers/bulk", {
    ids: [one.id, two.name, one.name, one.id, "unknown-container"],
    action: "stop",
  });
  equal(status, 200);
  deepEqual(
    body.results.map(({ id, ok, state }: Record<string, unknown>) => ({ id, ok, state })),
    [
      { id: one.id, ok: true, state: "exited" },
      { id: two.name, ok: true, state: "exited" },
      { id: "unknown-container", ok: false, state: null },
    ],
  );
  deepEqual([body.succeeded, body.failed], [2, 1]);
});

programTest(
  "top shows the processes of a running container, 409 of any other",
  async (engine, program) => {
    await using container = await engine.runContainer();
    const { body } = await program.call("GET", `/api/containers/${container.id}/top`);
    ok(body.titles.includes("PID"));
    ok(body.processes.length >= 1);
    await engine.docker("stop", container.id);
    await until("it is listed as exited", async () => {
      return (await listed(program, container.name)).state === "exited";
    });
    equal((await program.call("GET", `/api/containers/${container.id}/top`)).status, 409);
  },
);

programTest("renaming, pausing and removing by others is followed", async (engine, program) => {
  await using container = await engine.runContainer();
  await until("it is listed", () => listed(program, container.name));
  await engine.docker("rename", container.id, `${container.name}-new`);
  await until("the new name is listed", async () => {
    return (await listed(program, container.name))?.name === `${container.name}-new`;
  }, { deadlineMs: SEEN_WITHIN_MS });
  await engine.docker("pause", container.id);
  await until("it is listed as paused", async () => {
    return (await listed(program, container.name)).state === "paused";
  }, { deadlineMs: SEEN_WITHIN_MS });
  await engine.docker("rm", "-f", container.id);
  await until("it is listed no more", async () => {
    return await listed(program, container.name) === undefined;
  }, { deadlineMs: SEEN_WITHIN_MS });
});

programTest("leaving and joining a network by others is followed", async (engine, program) => {
  await using container = await engine.runContainer();
  const networks = async () => (await listed(program, container.name))?.networks;
  await until("it is listed", async () => (await networks())?.includes("bridge"));
  await engine.docker("network", "disconnect", "bridge", container.id);
  await until("it is listed without the network", async () => {
    return (await networks()).length === 0;
  }, { deadlineMs: SEEN_WITHIN_MS });
  await engine.docker("network", "connect", "bridge", container.id);
  await until("it is listed with the network", async () => {
    return (await networks()).includes("bridge");
  }, { deadlineMs: SEEN_WITHIN_MS });
});

programTest(
  "an end that this service caused is no event, any other is one with its reason",
  async (engine, program) => {
    await using stream = await events(program);
    const downs = () =>
      stream.seen.filter(({ event }) => event === "container.down").map(({ data }) => data);

    await using own = await engine.runContainer();
    await program.call("POST", `/api/containers/${own.id}/stop?t=1`);
    await program.call("POST", `/api/containers/${own.id}/start`);
    await program.call("POST", `/api/containers/${own.id}/restart?t=1`);

    await using stopped = await engine.runContainer();
    await engine.docker("stop", stopped.id);
    await using killed = await engine.runContainer();
    await engine.docker("kill", killed.id);
    await using removed = await engine.runContainer();
    await engine.docker("rm", "-f", removed.id);
    await using exited = await engine.runContainer({ command: ["sh", "-c", "exit 3"] });

    await until("all four ends are told", () => downs().length >= 4);
    const reasons = new Map(downs().map(({ id, reason }) => [id, reason]));
    equal(reasons.get(stopped.id), "stopped");
    equal(reasons.get(killed.id), "killed");
    equal(reasons.get(removed.id), "killed");
    equal(reasons.get(exited.id), "exited");
    equal(reasons.get(own.id), undefined);
    equal(downs().find(({ id }) => id === exited.id)?.exitCode, 3);
  },
);

interface StreamEvent {
  event: string;
  data: { id: string; reason: string; exitCode: number | null };
}

/** The `event` frames of the program's stream, as they come. */
async function events(program: Longshore): Promise<{ seen: StreamEvent[] } & AsyncDisposable> {
  const end = new AbortController();
  const response = await fetch(`${program.baseUrl}/api/stream?types=event`, {
    headers: { authorization: `Bearer ${await program.token()}` },
    signal: end.signal,
  });
  const seen: StreamEvent[] = [];
  const reading = (async () => {
    let rest = "";
    try {
      for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
        const frames = (rest + text).split("\n\n");
        rest = frames.pop()!;
        for (const frame of frames) {
          const data = /^data: (.*)$/m.exec(frame)?.[1];
          if (data !== undefined) seen.push(JSON.parse(data));
        }
      }
    } catch (error) {
      if (!end.signal.aborted) throw error;
    }
  })();
  return {
    seen,
    async [Symbol.asyncDispose]() {
      end.abort();
      await reading;
    },
  };
}
