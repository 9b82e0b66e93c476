/**
 * The engine hangs, or stops and starts again: requests that need it fail at once, all others work, and the
 * service recovers by itself.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { durationOf, mostlyWithin } from "../helpers/in_time.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { ownEngineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

/** Requirement: 503 comes within this, recovery within that, in milliseconds. */
const REFUSED_WITHIN_MS = 100;
const RECOVERED_WITHIN_MS = 5_000;

/** The program's Unix sockets: connections to the engine, and a few of the runtime's own. */
async function engineConnections(pid: number): Promise<number> {
  const table = await Deno.readTextFile(`/proc/${pid}/net/unix`);
  const inodes = new Set(table.split("\n").slice(1).map((line) => line.split(/ +/)[6]));
  let count = 0;
  for await (const { name } of Deno.readDir(`/proc/${pid}/fd`)) {
    const link = await Deno.readLink(`/proc/${pid}/fd/${name}`).catch(() => "");
    if (inodes.has(/^socket:\[(\d+)\]$/.exec(link)?.[1])) count++;
  }
  return count;
}

async function timed(program: Longshore, path: string) {
  const started = performance.now();
  const { status, body } = await program.call("GET", path);
  return { status, body, ms: performance.now() - started };
}

ownEngineTest(
  "an engine that hangs or is killed under load affects only requests that need it",
  async (engine) => {
    await using container = await engine.runContainer();
    await using program = await startLongshore({ engineSocket: engine.socketPath });
    await until("the list is there", async () => {
      return (await program.call("GET", "/api/containers")).body.containers?.length === 1;
    });
    {
      // Its connections stay open.
      await using _frozen = await engine.freeze();
      // A ping is due every five seconds, and has three for its answer and three for a second one.
      await until("the list is no longer served from memory", async () => {
        return (await program.call("GET", "/api/containers")).status === 503;
      });
      await mostlyWithin(500, "a probe", async () => {
        const { ms, status } = await timed(program, "/livez");
        equal(status, 200);
        return ms;
      });
    }
    // The list can be back before the stream of events, which is one of the connections.
    await until("everything is back", () => isBack(program));

    await program.call("GET", `/api/containers/${container.id}`);
    const before = await engineConnections(program.pid);

    const load = startLoad(program, [
      "/api/containers",
      `/api/containers/${container.id}`,
      `/api/containers/${container.id}/logs`,
      "/api/overview",
      "/api/images",
    ]);
    await until("the load runs", () => load.statuses.length > 100);
    await engine.kill();

    await until("the list is refused", async () => {
      return (await program.call("GET", "/api/containers")).status === 503;
    });
    const refused = async (path: string) => {
      const { status, ms, body } = await timed(program, path);
      deepEqual([status, typeof body.error], [503, "string"]);
      return ms;
    };
    await mostlyWithin(
      REFUSED_WITHIN_MS * 3,
      "503 under load",
      () => refused(`/api/containers/${container.id}`),
      { tries: 10 },
    );
    await load.end();
    await mostlyWithin(REFUSED_WITHIN_MS, "503", () => refused("/api/containers"));
    ok(
      load.statuses.every((status) => status === 200 || status === 503),
      [
        ...new Set(load.statuses),
      ].join(),
    );

    const overview = await timed(program, "/api/overview");
    deepEqual(
      [overview.status, overview.body.engine.reachable, overview.body.containers.total],
      [200, false, null],
    );
    equal((await program.call("GET", "/livez")).status, 200);
    equal((await program.call("GET", "/readyz")).status, 200);
    equal((await program.call("GET", "/api/health")).body.status, "degraded");

    let isAway = true;
    await mostlyWithin(RECOVERED_WITHIN_MS, "the recovery", async () => {
      if (!isAway) {
        await engine.kill();
        await until("the list is refused", async () => {
          return (await program.call("GET", "/api/containers")).status === 503;
        });
      }
      await engine.restart();
      isAway = false;
      // It answers pings before it knows its containers.
      await engine.docker("ps");
      return await durationOf(() => until("everything is back", () => isBack(program)));
    }, { tries: 3 });
    // The event stream stays open; idle kept-alive connections are closed.
    await until("no connection is left over", async () => {
      return await engineConnections(program.pid) <= before;
    });
    equal(await program.stop(), 0);
  },
);

/** Whether the list is served, and the engine is watched again. */
async function isBack(program: Longshore): Promise<boolean> {
  return (await program.call("GET", "/api/containers")).status === 200 &&
    (await program.call("GET", "/api/health")).body.status === "ok";
}

/** Requests the paths repeatedly on eight connections until it is stopped. */
function startLoad(program: Longshore, paths: string[]) {
  const statuses: number[] = [];
  let running = true;
  const workers = Array.from({ length: 8 }, async () => {
    while (running) {
      for (const path of paths) statuses.push((await program.call("GET", path)).status);
    }
  });
  return {
    statuses,
    async end() {
      running = false;
      await Promise.all(workers);
    },
  };
}
