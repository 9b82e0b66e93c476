/** Dials hosts that wait for this hub, again and again. @module */

import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { sleep } from "../../waiting.ts";
import { type Attempt, retryMs } from "../enrolment/retries.ts";
import { dial } from "../link/dial.ts";
import { serveConnection, type ServeDeps } from "./serve.ts";

/** Number of hosts that are dialed in a second after a start. */
const SECOND_MAX = 20;

type Dialled = Deps["fleet"]["dialled"][number];

/** Dials hosts until `signal` aborts or no host has to be dialed. */
export async function dialHosts(
  deps: ServeDeps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  const { fleet } = deps;
  const dialling = new Map<string, AbortController>();
  while (!signal.aborted && fleet.dialled.length > 0) {
    const meant = new Map(fleet.dialled.map((host) => [`${host.id} ${host.address}`, host]));
    for (const [key, stop] of dialling) {
      if (meant.has(key)) continue;
      stop.abort();
      dialling.delete(key);
    }
    for (const [key, host] of meant) {
      if (dialling.has(key)) continue;
      const stop = new AbortController();
      dialling.set(key, stop);
      void keepDialing(deps, host, AbortSignal.any([signal, stop.signal]));
    }
    round();
    await fleet.changed(signal);
  }
  for (const stop of dialling.values()) stop.abort();
}

/** Never rejects. */
async function keepDialing(deps: ServeDeps, host: Dialled, signal: AbortSignal): Promise<void> {
  await sleep(Math.random() * 1000 * deps.fleet.dialled.length / SECOND_MAX, signal);
  for (let failures = 0; !signal.aborted;) {
    const attempt = await dialHost(deps, host, signal);
    failures = attempt === "ended" ? 0 : failures + 1;
    await sleep(retryMs(attempt, failures, Math.random()), signal);
  }
}

/** Dials a host once, and waits for the end of its link. */
async function dialHost(deps: ServeDeps, host: Dialled, signal: AbortSignal): Promise<Attempt> {
  try {
    const connection = await dial(deps, host.address, signal, "host");
    const peer = { address: new URL(host.address).host, hostId: host.id };
    const link = await serveConnection(deps, connection, peer);
    await connection.closed;
    return link ? "ended" : "failed";
  } catch (error) {
    if (signal.aborted) return "failed";
    deps.log.info("host not reachable", {
      address: host.address,
      ...errorFields(error),
      stack: undefined,
    });
    return "failed";
  }
}
