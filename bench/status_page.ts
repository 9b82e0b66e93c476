/**
 * A public status page under load, as in an outage: requests per second on an idle service, and while
 * the page and its database are being written.
 *
 * @module
 */

import { load, type LoadResult } from "./load.ts";
import { bundlePrograms, type Running, start, tokenOf } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

const SECONDS = 3;
const ROUNDS = 3;
const CONNECTIONS = 32;

const COMPONENTS = 30;
const INCIDENTS = 10;

/** Required requests per second: all employees of a company read the page at the same time. */
const LEAST_PER_SECOND = 1_000;

const PAGES = "/api/ext/service-pro/status-pages";

/** Measured parts: the page and its parts, the page packed, and its JSON. */
const PARTS = [
  { what: "page", path: "/status/acme", headers: {} },
  { what: "page, gzip", path: "/status/acme", headers: { "accept-encoding": "gzip" } },
  { what: "feed", path: "/status/acme/feed.atom", headers: {} },
  { what: "badge", path: "/status/acme/badge.svg", headers: {} },
  { what: "JSON", path: `${PAGES}/public/acme`, headers: {} },
];

export async function benchStatusPage(): Promise<void> {
  await using bundles = await bundlePrograms();
  await using service = await start(bundles.service, { DOCKER_HOST: "unix:///nonexistent.sock" });
  const call = await caller(service);
  await call("POST", "/api/edition/trial");
  const { id } = await call("POST", PAGES, { name: "Acme", description: "State of everything" });
  const components = [];
  for (let i = 0; i < COMPONENTS; i++) {
    components.push(
      await call("POST", `${PAGES}/${id}/components`, {
        name: `Component ${i}`,
        group_name: `Group ${i % 5}`,
      }),
    );
  }
  for (let i = 0; i < INCIDENTS; i++) {
    await call("POST", `${PAGES}/${id}/incidents`, {
      title: `Incident ${i}`,
      message: "Something is wrong, and we look into it. ".repeat(5),
      severity: "major",
      status: "investigating",
    });
  }

  const rows: Record<string, string | number>[] = [];
  let least = Infinity;
  for (const { what, ...request } of PARTS) {
    const quiet = await measure(service, request);
    let ended = false;
    let writes = 0;
    const writing = (async () => {
      for (; !ended; writes++) {
        const status = writes % 2 ? "operational" : "partial_outage";
        const { id: component } = components[writes % components.length];
        await call("PUT", `${PAGES}/${id}/components/${component}`, { status });
      }
    })();
    const started = performance.now();
    const busy = await measure(service, request);
    const elapsedS = (performance.now() - started) / 1000;
    ended = true;
    await writing;
    least = Math.min(least, busy.perSecond);
    rows.push({
      what,
      "req/s": quiet.perSecond,
      "p99 ms": quiet.p99,
      "req/s while written": busy.perSecond,
      "its p99 ms": busy.p99,
      "writes/s": writes / elapsedS,
      bytes: busy.bytes,
      failures: quiet.failures + busy.failures,
    });
  }
  printTable(
    `Status page with ${COMPONENTS} components and ${INCIDENTS} incidents, ${CONNECTIONS} connections`,
    rows,
  );
  printVerdict(
    `${LEAST_PER_SECOND} requests a second over the fewest while the page is written`,
    LEAST_PER_SECOND / least,
    1,
  );
}

async function measure(
  { target }: Running,
  request: { path: string; headers: Record<string, string> },
): Promise<{ perSecond: number; p99: number; bytes: number; failures: number }> {
  const rounds: LoadResult[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(
      await load(target, { ...request, connections: CONNECTIONS, seconds: SECONDS }),
    );
  }
  return {
    perSecond: median(rounds.map(({ requestsPerSecond }) => requestsPerSecond)),
    p99: median(rounds.map(({ p99 }) => p99)),
    bytes: rounds[0]!.answerBytes,
    failures: rounds.reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** Calls the API as an admin; a failure ends the measurement. */
async function caller(service: Running) {
  const authorization = `Bearer ${await tokenOf(service)}`;
  return async (method: string, path: string, body: unknown = {}) => {
    const response = await fetch(`http://127.0.0.1:${service.target.port}${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.error}`);
    return answer;
  };
}
