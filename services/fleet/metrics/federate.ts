/** Metrics of the hosts of this hub for Prometheus: where they are, and those of one host. @module */

import { selectFleetHost } from "../../../db/fleet_hosts.ts";
import { METRICS_USER } from "../../access/accounts.ts";
import type { Caller } from "../../access/caller.ts";
import type { ScopedHost } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { hubAsCaller } from "../copies/follow.ts";
import { type HostViewer, visibleHosts } from "../hosts/visible.ts";
import { METRICS_PATH } from "../notes/note.ts";
import { describeMissing } from "../passing/missing.ts";
import { findHost, NoteRefusedError, type PassedResponse, passOn } from "../passing/pass.ts";
import type { PassingHost } from "../passing/sides.ts";

/** Path of the metrics of a host at its hub. */
const FEDERATE_PATH = "/metrics/federate";

/** A target of the HTTP service discovery of Prometheus. */
export interface MetricsTarget {
  /** This hub, as `host:port`. */
  targets: string[];
  labels: Record<string, string>;
}

/**
 * A target for each host that the caller sees, whether it is connected or not.
 *
 * @param origin Address of this hub, as the scraper can reach it.
 */
export function listTargets(
  deps: Pick<Deps, "db">,
  viewer: HostViewer,
  origin: URL,
): MetricsTarget[] {
  const { host, pathname, protocol } = origin;
  const root = pathname.replace(/\/$/, "");
  return visibleHosts(deps, viewer)
    .filter(({ isPending, leftAt }) => !isPending && leftAt === null)
    .map(({ name, labels }) => ({
      targets: [host],
      labels: {
        __scheme__: protocol.slice(0, -1),
        __metrics_path__: root + FEDERATE_PATH,
        __param_host: name,
        instance: name,
        ...Object.fromEntries(
          Object.entries(labels).map((
            [key, value],
          ) => [`host_${key.replace(/[^a-z0-9_]/g, "_")}`, value]),
        ),
      },
    }));
}

/**
 * The metrics of a host, read through its link.
 *
 * @throws {AppError} `not_found` for a host that the caller does not see; `unavailable` while it is away;
 * `bad_gateway` if it does not send metrics.
 */
export async function readHostMetrics(
  deps: Pick<Deps, "db" | "now" | "passing" | "server">,
  { caller, host: ref, permissionsAt, requestId, signal }: {
    caller: Caller;
    host: string;
    /** Permissions that custom roles give the caller at a host. */
    permissionsAt: (host: ScopedHost) => readonly string[];
    requestId: string;
    signal: AbortSignal;
  },
): Promise<PassedResponse> {
  const host = findHost(deps, caller, ref);
  const passed = await passOn(deps, host, {
    method: "GET",
    target: METRICS_PATH,
    headers: new Headers(),
    // The holder of METRICS_TOKEN has no account that a host could ask about.
    caller: caller.userId === METRICS_USER ? hubAsCaller(deps) : caller,
    permissions: permissionsAt(host),
    requestId,
    signal,
  }).catch((error) => {
    // Versions before the metrics take notes for paths below `/api/` only.
    const lacks = error instanceof NoteRefusedError && error.refusal === "other_path";
    throw lacks ? missingMetrics(deps, host) : error;
  });
  const { head, end } = passed;
  if (head.status === 200 && head.headers.get("content-type")?.startsWith("text/plain")) {
    return passed;
  }
  end();
  if (head.status === 404) throw missingMetrics(deps, host);
  throw new AppError(
    "bad_gateway",
    `Host ${host.name} does not send its metrics (status ${head.status})`,
  );
}

function missingMetrics({ db }: Pick<Deps, "db">, { id, name }: PassingHost): AppError {
  const version = selectFleetHost(db, id)?.version ?? "unknown";
  return new AppError("bad_gateway", describeMissing({ name, version }, `GET ${METRICS_PATH}`));
}
