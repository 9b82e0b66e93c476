/**
 * The compliance log: entries per second of fifty writers, and the time to verify a million entries
 * while other requests are answered.
 *
 * @module
 */

import { shortenBusyTimeout } from "../db/database.ts";
import { appendEntry } from "../services/enterprise/compliance/append.ts";
import { complianceDeps, fillLog, makeStateFile, STOPPED } from "../tests/helpers/compliance.ts";
import { load } from "./load.ts";
import { bundlePrograms, type Running, start, tokenOf } from "./programs.ts";
import { printTable, printVerdict } from "./table.ts";

const WRITERS = 50;
const SECONDS = 5;
const LEAST_PER_SECOND = 2_000;

const MILLION = 1_000_000;
const LEAST_VERIFIED_PER_SECOND = 50_000;
const LIVEZ_MS_MAX = 50;

const BASE = "/api/ext/service-enterprise/compliance";

const ENTRY = JSON.stringify({
  category: "data",
  action: "backup.restored",
  resource_type: "database",
  resource_id: "orders",
  detail: "Restored from the backup of 2026-01-30",
  metadata: { ticket: "OPS-4711" },
});

export async function benchCompliance(): Promise<void> {
  const inProcess = await appendInProcess();
  await using bundles = await bundlePrograms();
  const overHttp = await appendOverHttp(bundles.service);
  printTable(`Compliance log, ${WRITERS} writers at the same time, one chain`, [
    {
      writers: "in the process",
      "entries/s": inProcess,
      "p50 ms": NaN,
      "p99 ms": NaN,
      failures: 0,
    },
    { writers: "POST /logs", ...overHttp },
  ]);
  const least = Math.min(inProcess, overHttp["entries/s"]);
  printVerdict(`${LEAST_PER_SECOND} entries a second over the fewest`, LEAST_PER_SECOND / least, 1);
  await verifyMillion(bundles.service);
}

async function appendInProcess(): Promise<number> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-bench-log-" });
  const db = makeStateFile(`${directory}/state.sqlite`);
  const deps = complianceDeps(db, () => new Date());
  let written = 0;
  const began = performance.now();
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (performance.now() - began < SECONDS * 1_000) {
      await appendEntry(deps, STOPPED);
      written++;
    }
  }));
  const elapsedS = (performance.now() - began) / 1_000;
  db.close();
  await Deno.remove(directory, { recursive: true });
  return written / elapsedS;
}

async function appendOverHttp(script: string) {
  await using service = await start(script, { DOCKER_HOST: "unix:///nonexistent.sock" });
  const call = await caller(service);
  await call("POST", "/api/edition/trial");
  const authorization = `Bearer ${await tokenOf(service)}`;
  const result = await load(service.target, {
    path: `${BASE}/logs`,
    headers: { authorization },
    body: ENTRY,
    connections: WRITERS,
    seconds: SECONDS,
  });
  const { verified, reason } = await call("POST", `${BASE}/verify-chain`, {});
  if (!verified) throw new Error(`The chain is broken: ${reason}`);
  return {
    "entries/s": result.requestsPerSecond,
    "p50 ms": result.p50,
    "p99 ms": result.p99,
    failures: result.failures,
  };
}

async function verifyMillion(script: string): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-bench-log-" });
  try {
    const db = makeStateFile(`${directory}/state.sqlite`);
    shortenBusyTimeout(db);
    const fromMs = Date.now() - MILLION * 1_000;
    fillLog(db, MILLION, { from: new Date(fromMs).toISOString() });
    db.close();
    await using service = await start(script, {
      DOCKER_HOST: "unix:///nonexistent.sock",
      DATA_DIR: directory,
    });
    const call = await caller(service);
    await call("POST", "/api/edition/trial");
    const rows = [await quiet(service)];
    let perSecond = 0;
    let slowest = 0;
    for (
      const [what, method, path, body] of [
        ["verification", "POST", `${BASE}/verify-chain`, {}],
        ["statistics", "GET", `${BASE}/stats`],
        ["newest entries", "GET", `${BASE}/logs`],
        ["of two filters, none", "GET", `${BASE}/logs?category=container&severity=critical`],
        [
          "two filters, the last",
          "GET",
          `${BASE}/logs?action=containers.stop&offset=999990&limit=9`,
        ],
        ["export, CSV", "GET", `${BASE}/export?format=csv`],
      ] as const
    ) {
      const probing = probe(service);
      const began = performance.now();
      const answer = await call(method, path, body);
      const ms = performance.now() - began;
      const { most, p50 } = await probing.end();
      slowest = Math.max(slowest, most);
      if (what === "verification") {
        if (!answer.verified) throw new Error(`The chain is broken: ${answer.reason}`);
        perSecond = answer.entries_checked / ms * 1_000;
      }
      rows.push({ what, ms, "livez p50 ms": p50, "livez max ms": most });
    }
    printTable(`Compliance log of ${MILLION} entries`, rows);
    console.log(`  ${Math.round(perSecond)} entries/s, ${Math.round(await service.memoryMb())} MB`);
    printVerdict(
      `${LEAST_VERIFIED_PER_SECOND} entries a second over those verified`,
      LEAST_VERIFIED_PER_SECOND / perSecond,
      1,
    );
    printVerdict("slowest GET /livez", slowest, LIVEZ_MS_MAX, " ms");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** For comparison: the latency of `GET /livez` without that load. */
async function quiet(service: Running) {
  const probing = probe(service);
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
  const { most, p50 } = await probing.end();
  return { what: "nothing", ms: SECONDS * 1_000, "livez p50 ms": p50, "livez max ms": most };
}

/** Requests `GET /livez` continuously from another thread. */
function probe({ target }: Running) {
  const worker = new Worker(new URL("./livez_probe.ts", import.meta.url), { type: "module" });
  const { promise, resolve } = Promise.withResolvers<{ p50: number; most: number }>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.postMessage(target);
  return {
    async end() {
      worker.postMessage("end");
      const result = await promise;
      worker.terminate();
      return result;
    },
  };
}

/** Calls the API as an admin; a failure ends the measurement. */
async function caller(service: Running) {
  const authorization = `Bearer ${await tokenOf(service)}`;
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${service.target.port}${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return path.includes("/export") ? undefined : JSON.parse(text);
  };
}
