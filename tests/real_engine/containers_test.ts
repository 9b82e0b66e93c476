/** Containers through the whole program: what the API says is what the engine does. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { durationOf, mostlyWithin } from "../helpers/in_time.ts";
import { engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

/** Requirement: changes by other clients are listed within this time, in milliseconds. */
const SEEN_WITHIN_MS = 1_000;

/** Requirement: an end is reported within this time, in milliseconds. */
const TOLD_WITHIN_MS = 1_000;

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

/**
 * Asserts that a change by another client is listed in time.
 *
 * @param change Changes something at the engine.
 * @param isListed Whether the list shows it.
 */
async function isSeenInTime(
  what: string,
  change: () => Promise<unknown>,
  isListed: () => Promise<boolean>,
): Promise<void> {
  await mostlyWithin(SEEN_WITHIN_MS, what, async () => {
    await change();
    return await durationOf(() => until(what, isListed));
  }, { tries: 3 });
}

/** The container as the list shows it. */
async function listed(program: Longshore, name: string) {
  const { body } = await program.call("GET", `/api/containers?name=${name}`);
  return body.containers[0];
}

programTest("actions through the API are in the very next read", async (engine, program) => {
  await using container = await engine.runContainer({ network: "bridge" });
  for (let round = 0; round < 3; round++) {
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
  const again = await program.call("POST", `/api/containers/${container.name}/start`);
  deepEqual([again.status, again.body.changed], [200, false]);

  await using other = await engine.runContainer();
  const { status, body } = await program.call("POST", "/api/containers/bulk", {
    ids: [container.id, other.name, container.name, container.id, "unknown-container"],
    action: "stop",
  });
  equal(status, 200);
  deepEqual(
    body.results.map(({ id, ok, state }: Record<string, unknown>) => ({ id, ok, state })),
    [
      { id: container.id, ok: true, state: "exited" },
      { id: other.name, ok: true, state: "exited" },
      { id: "unknown-container", ok: false, state: null },
    ],
  );
  deepEqual([body.succeeded, body.failed], [2, 1]);
  const stopped = await program.call("POST", `/api/containers/${container.name}/stop`);
  deepEqual([stopped.status, stopped.body.changed], [200, false]);
});

long(programTest)(
  "an action leaves its container free for the next one",
  async (engine, program) => {
    await using container = await engine.runContainer({ network: "bridge" });
    const { id, name } = container;
    const act = async (method: string, path: string, body?: unknown) => {
      const answer = await program.call(method, `/api/containers/${path}`, body);
      equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    };
    await act("POST", `${name}/rename`, { name: `${name}-new` });
    await act("PUT", `${id}/limits`, { pidsLimit: 50 });
    await act("POST", `${name}-new/rename`, { name });
    await act("POST", `${name}/pause`);
    await act("POST", `${name}/unpause`);
    await act("POST", `${name}/restart`);
    await act("POST", `${name}/stop`);
    await act("POST", `${name}/start`);
    await act("POST", `${name}/rebuild`, { pull: "missing" });
    const { body } = await program.call("GET", `/api/containers/${name}`);
    await act("DELETE", `${body.id}?force=true`);
  },
);

programTest(
  "a container is listed in full, found by id, prefix and name, and shown with its live stats",
  async (engine, program) => {
    await using container = await engine.runContainer({
      labels: {
        "com.docker.compose.project": "harbour",
        "com.docker.compose.service": "crane",
      },
      options: [
        ...["--expose", "8080", "--env", "PASSWORD=secret"],
        ...["--memory", "64m", "--cpus", "0.5", "--pids-limit", "50"],
      ],
    });
    const item = await until("it is listed as running", async () => {
      const found = await listed(program, container.name);
      return found?.state === "running" && found;
    });
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

    const detail = async () => (await program.call("GET", `/api/containers/${container.id}`)).body;
    const { stats } = await until("it is sampled", async () => {
      const body = await detail();
      return body.stats ? body : undefined;
    });
    equal(stats.memoryLimit, 64 * 1024 * 1024);
    ok(stats.memoryUsage > 0 && stats.pids >= 1 && stats.cpuPercent >= 0);

    // The engine itself takes one to two seconds for stats.
    await mostlyWithin(500, "a detail", () => durationOf(detail));
    const { limits, env } = await detail();
    // As much swap as memory, unless set.
    const [memoryBytes, memorySwapBytes] = [64 * 1024 * 1024, 128 * 1024 * 1024];
    deepEqual(limits, { memoryBytes, memorySwapBytes, cpus: 0.5, pids: 50 });
    ok(
      env.some((each: { name: string; value: string }) =>
        each.name === "PASSWORD" && each.value === "secret"
      ),
    );

    const top = async () => await program.call("GET", `/api/containers/${container.id}/top`);
    const { titles, processes } = (await top()).body;
    ok(titles.includes("PID"));
    ok(processes.length >= 1);
    await program.call("POST", `/api/containers/${container.id}/stop?t=1`);
    equal((await detail()).stats, null);
    equal((await top()).status, 409);
  },
);

long(programTest)(
  "changes by the engine's own command line are listed",
  async (engine, program) => {
    await using container = await engine.runContainer({ network: "bridge" });
    const item = () => listed(program, container.name);
    const isListedAs = async (state: string) => (await item())?.state === state;
    await isSeenInTime("a stop", async () => {
      await engine.docker("start", container.id);
      await until("it is listed as running", () => isListedAs("running"));
      await engine.docker("stop", container.id);
    }, () => isListedAs("exited"));
    await engine.docker("start", container.id);
    const networks = async () => (await item())?.networks;
    await until("it is listed in its network", async () => (await networks()).includes("bridge"));
    for (const [what, command] of [["leaving", "disconnect"], ["joining", "connect"]] as const) {
      const [other, isIn] = command === "connect" ? ["disconnect", true] : ["connect", false];
      const shows = async (isMember: boolean) => (await networks()).includes("bridge") === isMember;
      await isSeenInTime(what, async () => {
        if (await shows(isIn)) {
          await engine.docker("network", other, "bridge", container.id);
          await until("it is as before", () => shows(!isIn));
        }
        await engine.docker("network", command, "bridge", container.id);
      }, () => shows(isIn));
    }
    await isSeenInTime("a pause", async () => {
      if (await isListedAs("paused")) {
        await engine.docker("unpause", container.id);
        await until("it is listed as running", () => isListedAs("running"));
      }
      await engine.docker("pause", container.id);
    }, () => isListedAs("paused"));
    let name = container.name;
    await isSeenInTime("a new name", async () => {
      name += "-new";
      await engine.docker("rename", container.id, name);
    }, async () => (await listed(program, container.name))?.name === name);
    let removed: string;
    await isSeenInTime("a removal", async () => {
      const other = await engine.runContainer();
      removed = other.name;
      await until("it is listed", () => listed(program, removed));
      await engine.docker("rm", "-f", other.id);
    }, async () => await listed(program, removed) === undefined);
  },
);

long(programTest)(
  "a stop by this service causes no event, any other stop one with its reason",
  async (engine, program) => {
    await using stream = await events(program);
    const downs = () =>
      stream.seen.filter(({ event }) => event === "container.down").map(({ data }) => data);

    await using own = await engine.runContainer();
    await program.call("POST", `/api/containers/${own.id}/stop?t=1`);
    await program.call("POST", `/api/containers/${own.id}/start`);
    await program.call("POST", `/api/containers/${own.id}/restart?t=1`);

    await using killed = await engine.runContainer();
    await engine.docker("kill", killed.id);
    await using removed = await engine.runContainer();
    await engine.docker("rm", "-f", removed.id);
    await using exited = await engine.runContainer({ command: ["sh", "-c", "exit 3"] });
    const downOf = (id: string) =>
      until("its end is told", () => downs().find((down) => down.id === id));
    equal((await downOf(killed.id)).reason, "killed");
    equal((await downOf(removed.id)).reason, "killed");
    const { reason, exitCode } = await downOf(exited.id);
    deepEqual([reason, exitCode], ["exited", 3]);
    equal(downs().some(({ id }) => id === own.id), false);

    // Nothing but the passing of time tells a signal from a stop.
    await mostlyWithin(TOLD_WITHIN_MS, "the report of a signal", async () => {
      await using signalled = await engine.runContainer({
        command: ["sh", "-c", "trap 'exit 143' TERM; echo ready; sleep 2147483647 & wait"],
      });
      // Before the trap is set, the first process of a container ignores the signal.
      const isReady = async () => (await engine.docker("logs", signalled.id)).includes("ready");
      await until("it is ready", isReady);
      await engine.docker("kill", "--signal", "TERM", signalled.id);
      return await durationOf(async () => {
        const down = await downOf(signalled.id);
        deepEqual([down.reason, down.exitCode], ["killed", 143]);
      });
    }, { tries: 3 });

    const stopped = await Promise.all(Array.from({ length: 5 }, () => engine.runContainer()));
    await Promise.all(stopped.map(({ id }) => engine.docker("stop", "-t", "1", id)));
    for (const container of stopped) {
      await using _ = container;
      equal((await downOf(container.id)).reason, "stopped");
    }
  },
);

long(programTest)(
  "the crash loop of a container that is stopped or removed ends",
  async (engine, program) => {
    await using stream = await events(program);
    const looping = { command: ["sh", "-c", "exit 1"], options: ["--restart=always"] };
    await using stopped = await engine.runContainer(looping);
    await using removed = await engine.runContainer(looping);
    const seen = (kind: string, of: { id: string }) =>
      until(
        `${kind} is sent`,
        () => stream.seen.find(({ event, data }) => event === kind && data.id === of.id),
      );
    for (const container of [stopped, removed]) {
      await seen("container.crash_looping", container);
    }
    await engine.docker("stop", stopped.id);
    await engine.docker("rm", "-f", removed.id);
    equal((await seen("container.stable", stopped)).data.outcome, "stopped");
    equal((await seen("container.stable", removed)).data.outcome, "removed");
  },
);

long(programTest)(
  "many ends beside events above 1 MiB are reported once each, and own stops not at all",
  async (engine, program) => {
    await using stream = await events(program);
    // More than one argument of a command may have.
    const directory = await Deno.makeTempDir();
    const labelFile = `${directory}/labels`;
    await Deno.writeTextFile(
      labelFile,
      Array.from({ length: 20 }, (_, n) => `large-${n}=${"x".repeat(60_000)}`).join("\n"),
    );
    const ids: string[] = [];
    const run = async (options: string[] = []) => {
      const container = await engine.runContainer({ options });
      ids.push(container.id);
      return container;
    };
    const downs = () =>
      stream.seen.filter(({ event, data }) => event === "container.down" && ids.includes(data.id))
        .map(({ data: { id, reason } }) => `${id} ${reason}`);
    const stopByProgram = ({ id }: { id: string }) =>
      program.call("POST", `/api/containers/${id}/stop?t=0`);
    try {
      const large = await run(["--label-file", labelFile]);
      const killed = await Promise.all(Array.from({ length: 8 }, () => run()));
      const own = await Promise.all(Array.from({ length: 3 }, () => run()));
      await waitUntilRunning(program, ids);
      await Promise.all([
        engine.docker("kill", large.id),
        engine.docker("kill", ...killed.map(({ id }) => id)),
        ...own.map(stopByProgram),
      ]);
      const expected = [large, ...killed].map(({ id }) => `${id} killed`);
      await until("all ends are told", () => downs().length >= expected.length);
      await engine.docker("start", large.id);
      await waitUntilRunning(program, [large.id]);
      await stopByProgram(large);

      // Its end waits for a stop, as a wrong report would, so that nothing is left to come.
      const last = await run();
      await engine.docker("kill", "--signal", "TERM", last.id);
      await until("the last end is told", () => downs().includes(`${last.id} exited`));
      deepEqual(downs().sort(), [...expected, `${last.id} exited`].sort());
    } finally {
      await engine.docker("rm", "--force", ...ids);
      await Deno.remove(directory, { recursive: true });
    }
  },
);

/** Waits until the program knows that containers run. */
async function waitUntilRunning(program: Longshore, ids: string[]): Promise<void> {
  await until("the program knows that they run", async () => {
    const { body } = await program.call("GET", "/api/containers");
    const running = body.containers
      .filter(({ state }: { state: string }) => state === "running")
      .map(({ id }: { id: string }) => id);
    return ids.every((id) => running.includes(id));
  });
}

interface StreamEvent {
  event: string;
  data: { id: string; reason: string; exitCode: number | null; outcome?: string };
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
