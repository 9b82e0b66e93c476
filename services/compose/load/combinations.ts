/**
 * Keys of a service that the engine refuses together when it creates a container.
 *
 * @see https://github.com/moby/moby/blob/master/daemon/pkg/runconfig/hostconfig.go
 * @module
 */

import { fail, type Loading, quote, warn } from "./scope.ts";
import type { WrittenService } from "./service_keys.ts";

/** Settings of the container whose network is shared. */
const NETWORK_KEYS = [
  "dns",
  "expose",
  "extra_hosts",
  "hostname",
  "links",
  "mac_address",
  "ports",
] as const;

export function checkCombinations(service: WrittenService, path: string, loading: Loading): void {
  checkNetworkMode(service, path, loading);
  checkMemory(service, path, loading);
  const isShare = service.cpus !== undefined && service.cpus > 0;
  for (const key of ["cpu_period", "cpu_quota"] as const) {
    if (isShare && service[key]) {
      fail(loading, `${path}.${key}`, "must not be given together with cpus");
    }
  }
  if (service.uts === "host" && service.hostname !== undefined) {
    fail(loading, `${path}.hostname`, "must not be given together with uts: host");
  }
}

function checkNetworkMode(service: WrittenService, path: string, loading: Loading): void {
  const { network_mode: mode } = service;
  if (mode === undefined) return;
  const refused = /^(?:service|container):/.test(mode)
    ? NETWORK_KEYS
    : mode === "host"
    ? ["links", "mac_address"] as const
    : [];
  for (const key of refused) {
    if (!service[key]?.length) continue;
    const message = `must not be given together with network_mode ${quote(mode)}`;
    fail(loading, `${path}.${key}`, message);
  }
  if (mode === "host" && service.ports?.length) {
    warn(
      loading,
      `${path}.ports`,
      "has no effect with network_mode host: all ports are those of the host",
    );
  }
}

function checkMemory(service: WrittenService, path: string, loading: Loading): void {
  const { mem_limit, mem_reservation, memswap_limit, deploy } = service;
  const limit = Number(mem_limit ?? deploy?.resources?.limits?.memory ?? 0);
  const reservation = Number(mem_reservation ?? deploy?.resources?.reservations?.memory ?? 0);
  const swap = Number(memswap_limit ?? 0);
  if (swap > 0 && (limit === 0 || swap < limit)) {
    fail(loading, `${path}.memswap_limit`, "must be at least mem_limit, which must be given, too");
  }
  if (limit > 0 && reservation > limit) {
    const key = mem_reservation === undefined
      ? "deploy.resources.reservations.memory"
      : "mem_reservation";
    fail(loading, `${path}.${key}`, "must not be above the limit of memory");
  }
}
