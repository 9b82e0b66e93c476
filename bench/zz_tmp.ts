/**
 * Webhooks of Git that are refused or come again: processor time of one, next to that of a path that does
 * not exist.
 *
 * @module
 */

import { createHmac } from "node:crypto";
import { load } from "./load.ts";
import { bundlePrograms, cpuSeconds, type Running, start, tokenOf } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

const CONNECTIONS = 8;
/** On each connection: below the limit of an address. */
const REQUESTS = 12;
const ADDRESSES = 6;
const ROUNDS = 1;

/** Largest processor time of a refused webhook, as a multiple of that of an unknown path. */
const RATIO_MAX = 2;

const BODY = JSON.stringify({ ref: "refs/heads/main", commits: "x".repeat(8_000) });

export async function benchWebhooks(): Promise<void> {
  await using bundles = await bundlePrograms();
  await using service = await start(bundles.service, {
    ...{ DOCKER_HOST: "unix:///nonexistent.sock", OUTBOUND_ALLOW: "127.0.0.1" },
    ...{ TRUSTED_PROXIES: "127.0.0.1", LOG_LEVEL: "info" },
  });
  const [own, other] = [await addRepository(service, "own"), await addRepository(service, "other")];
  const signature = (secret: string) => ({
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(BODY).digest("hex")}`,
  });
  const hook = { path: own.webhookPath, body: BODY };
  const REQUESTED: Record<string, { path: string; body?: string; headers?: object }> = {
    "GET /livez": { path: "/livez" },
    "unknown path": { path: "/api/nothing" },
    "unknown path, with a body": { path: "/api/nothing", body: BODY },
    "unknown webhook": { path: "/hooks/git/x", body: BODY, headers: signature("x") },
    "no signature": hook,
    "wrong signature": { ...hook, headers: signature("x") },
    "other repository's": { ...hook, headers: signature(other.webhookSecret) },
    "valid, again": { ...hook, headers: signature(own.webhookSecret) },
    "of a flooding address": { ...hook, headers: { "x-forwarded-for": "198.51.100.7" } },
  };
  const rows: { what: string; ms: number; ratio: number }[] = [];
  const measured = new Map<string, number[]>(Object.keys(REQUESTED).map((what) => [what, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [what, request] of Object.entries(REQUESTED)) {
      const ms = await measure(service, { ...request, headers: { ...request.headers } }, round);
      // The first round compiles.
      if (round > 0) measured.get(what)!.push(ms);
    }
  }
  const reference = median(measured.get("unknown path, with a body")!);
  for (const [what, each] of measured) {
    rows.push({ what, ms: median(each), ratio: median(each) / reference });
  }
  printTable(`Webhooks with ${BODY.length} bytes: processor time of one`, rows);
  const refused = rows.filter(({ what }) => /signature|other|address/.test(what));
  printVerdict(
    "most expensive refused webhook over an unknown path with a body",
    Math.max(...refused.map(({ ratio }) => ratio)),
    RATIO_MAX,
  );
}

/** @returns Milliseconds of processor time for each request. */
async function measure(
  service: Running,
  request: { path: string; body?: string; headers: object },
  round: number,
): Promise<number> {
  const before = await cpuSeconds(service);
  for (let at = 0; at < ADDRESSES; at++) {
    await load(service.target, {
      ...request,
      headers: { "x-forwarded-for": `192.0.${round}.${at}`, ...request.headers },
      connections: CONNECTIONS,
      requests: REQUESTS,
    });
  }
  const count = ADDRESSES * CONNECTIONS * REQUESTS;
  return (await cpuSeconds(service) - before) / count * 1000;
}

async function addRepository({ ...service }: Running, name: string) {
  const response = await fetch(`http://127.0.0.1:${service.target.port}/api/git/repositories`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await tokenOf(service)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ name, url: `https://127.0.0.1:1/${name}.git`, pollMinutes: 0 }),
  });
  if (response.status !== 201) throw new Error(await response.text());
  return await response.json() as { webhookPath: string; webhookSecret: string };
}
