/** Many uptime monitors: how late their checks begin, and what they cost. @module */

import { phaseMs } from "../services/pro/uptime/schedule.ts";
import { bundlePrograms, cpuPercent, type Running, start, tokenOf } from "./programs.ts";
import { printTable, printVerdict } from "./table.ts";

const MONITORS = 500;
const INTERVAL_S = 30;

/** Monitors of each kind: with a keyword, plain HTTP, TCP ports, and targets that never answer. */
const KINDS = { keyword: 250, plain: 150, tcp: 75, silent: 25 };

/** Measurement begins when all monitors exist and their first checks are done. */
const MEASURED_S = 65;

const LATE_MS_MAX = 2_000;
const CORE_PERCENT_MAX = 25;

const BASE = "/api/ext/service-pro/uptime/monitors";

export async function benchUptime(): Promise<void> {
  await using target = serveTarget();
  await using bundles = await bundlePrograms();
  await using service = await start(bundles.service, {
    DOCKER_HOST: "unix:///nonexistent.sock",
    OUTBOUND_ALLOW: "127.0.0.0/8",
  });
  const call = await caller(service);
  await call("POST", "/api/edition/trial");
  const idle = await cpuPercent(service, 5);
  const ids: string[] = [];
  for (const [kind, count] of Object.entries(KINDS)) {
    for (let i = 0; i < count; i++) {
      const { id } = await call("POST", BASE, { name: `${kind} ${i}`, ...target.monitor(kind) });
      ids.push(id);
    }
  }
  // New monitors are checked at once and failed ones again soon: both are outside their schedule.
  await sleep(15);

  const from = Date.now();
  const busy = await cpuPercent(service, MEASURED_S);
  const until = Date.now() - LATE_MS_MAX;
  const lateness: number[] = [];
  for (const id of ids) {
    const { checks } = await call("GET", `${BASE}/${id}/checks?limit=10`);
    const intervalMs = INTERVAL_S * 1000;
    const phase = phaseMs(id, INTERVAL_S);
    for (const { checked_at } of checks as { checked_at: string }[]) {
      const at = Date.parse(checked_at);
      if (at >= from && at <= until) lateness.push((at - phase) % intervalMs);
    }
  }
  lateness.sort((a, b) => a - b);
  const quantile = (share: number) => lateness[Math.ceil(lateness.length * share) - 1] ?? NaN;
  const due = MONITORS * (until - from) / 1000 / INTERVAL_S;
  printTable(`${MONITORS} monitors, each every ${INTERVAL_S} s, over ${MEASURED_S} s`, [{
    checks: lateness.length,
    "due": due,
    "late p50 ms": quantile(0.5),
    "late p99 ms": quantile(0.99),
    "late max ms": quantile(1),
    "% of a core": busy,
    "idle before": idle,
    "memory MB": await service.memoryMb(),
  }]);
  printVerdict("latest check", quantile(1), LATE_MS_MAX, " ms");
  printVerdict("checks that were left out", Math.max(0, 1 - lateness.length / due), 0.02);
  printVerdict("share of one core", busy, CORE_PERCENT_MAX, " %");
}

/** The targets: a server that answers at once, and one that never answers. */
function serveTarget() {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("everything is well"),
  );
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const held: Deno.Conn[] = [];
  const holding = (async () => {
    for await (const conn of silent) held.push(conn);
  })();
  const own = `127.0.0.1:${server.addr.port}`;
  const kinds: Record<string, Record<string, unknown>> = {
    keyword: { type: "http", url: `http://${own}/health`, keyword: "is well" },
    plain: { type: "http", url: `http://${own}/` },
    tcp: { type: "tcp", url: own },
    silent: { type: "http", url: `http://127.0.0.1:${silent.addr.port}/`, retries: 0 },
  };
  return {
    monitor: (kind: string) => ({ ...kinds[kind], interval_seconds: INTERVAL_S }),
    async [Symbol.asyncDispose]() {
      silent.close();
      await holding;
      for (const conn of held) conn.close();
      await server.shutdown();
    },
  };
}

async function caller(service: Running) {
  const token = await tokenOf(service);
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${service.target.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${answer.error}`);
    return answer;
  };
}

const sleep = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
