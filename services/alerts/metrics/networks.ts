/** The alert metric of the host's network. @module */

import type { NetworkCounters } from "../../metrics/host/cache.ts";
import type { Reading } from "../memory.ts";
import { ofHost, SAMPLE_AGE_MAX_MS } from "./host_samples.ts";
import { metric, ROUND_MS, type SourceDeps, unsupported } from "./kind.ts";

/** Interfaces whose traffic another interface has as well, or that stay within the host. */
const INNER_INTERFACES = /^(lo|veth|docker|br-|virbr|cni|podman|cali|flannel|vxlan|tun|tap)/;

export const networks = [
  metric("network_bytes_per_second", {
    target: "host",
    description:
      "Bytes per second in both directions, without interfaces within the host; needs PROC_PATH",
    group: "Host",
    words: "network traffic",
    unit: "B/s",
    threshold: 100_000_000,
    slow: { everyMs: ROUND_MS, read: readNetworkRate },
  }),
];

/** Bytes in both directions, between the last two samples of the host. */
function readNetworkRate(deps: SourceDeps): Reading {
  const { alerts, config, host, now } = deps;
  if (config.procPath === null) {
    return unsupported("Set PROC_PATH to a mount of the host's /proc to read its network");
  }
  const sample = host.latest;
  if (!sample?.network) return ofHost(() => 0)(deps);
  const bytes = outerBytes(sample.network);
  const readMs = Date.parse(sample.timestamp);
  const before = alerts.network;
  if (!before || before.readMs !== readMs) {
    const seconds = before ? (readMs - before.readMs) / 1000 : 0;
    const isUsable = before && seconds > 0 && seconds <= 60 && bytes >= before.bytes;
    const rate = isUsable ? Math.round((bytes - before.bytes) / seconds) : undefined;
    alerts.network = { bytes, readMs, rate };
  }
  const { rate } = alerts.network!;
  if (rate === undefined) return { reason: "The network is measured between two samples" };
  return Math.abs(now().getTime() - readMs) <= SAMPLE_AGE_MAX_MS
    ? { value: rate }
    : ofHost(() => rate)(deps);
}

const outerBytes = (interfaces: readonly NetworkCounters[]) =>
  interfaces.filter(({ name }) => !INNER_INTERFACES.test(name))
    .reduce((sum, { rxBytes, txBytes }) => sum + rxBytes + txBytes, 0);
