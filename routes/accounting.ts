/**
 * Writes down what requests come to: writes in the audit log, everything in the guard's.
 *
 * @module
 */

import type { Context, MiddlewareHandler } from "hono";
import type { Caller } from "../services/caller.ts";
import type { Observation } from "../services/guard.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Env, type Gatekeeper, validated } from "./gatekeeper.ts";

/**
 * Writes down what a request came to: a write in the audit log, everything in the guard's.
 *
 * The audit log leaves out what nobody is known to have tried, and refusals for trying too often: a
 * stranger must not fill the disk. The guard's log bounds strangers by itself.
 */
export function accounted(
  endpoint: Endpoint,
  route: string,
  { audit, guard }: Gatekeeper,
): MiddlewareHandler<Env> {
  const method = endpoint.method.toUpperCase();
  const isAudited = method !== "GET" && !endpoint.unaudited;
  const action = `${method} ${route}`;

  return async function accounted(c, next) {
    c.env.route = route;
    const current = guard();
    const guarding = current instanceof Promise ? await current : current;
    if (guarding) c.set("guard", guarding);
    c.set("note", {});
    await next();
    // The request that installs a license or begins the trial is the first to be written down.
    const recording = guarding ?? (isAudited ? await guard() : undefined);
    if (!isAudited && !recording) return;

    const caller = c.get("caller") as Caller | undefined;
    const { status } = c.res;
    const { actor, target = targetOf(c) } = c.get("note");
    const outcome = outcomeOf(status);
    // Wrong keys and passwords are throttled, a stranger's malformed requests are not.
    const isTry = status < 400 || status === 401 || status === 403;
    const isKnown = caller !== undefined && (caller.role !== "public" || isTry);
    if (isAudited && isKnown && status !== 429) {
      const userId = actor ?? caller.userId;
      audit({ caller: { ...caller, userId }, action, target, outcome });
    }
    if (endpoint.unrecorded && outcome === "success") return;
    await recording?.record({
      caller,
      address: c.env.address,
      requestId: c.env.requestId,
      method,
      path: route,
      permission: endpoint.permission,
      target,
      status,
      outcome,
      actor,
    });
  };
}

function outcomeOf(status: number): Observation["outcome"] {
  if (status === 401 || status === 402 || status === 403) return "denied";
  return status < 400 ? "success" : "failure";
}

/** What a write is about: the path's parameters, else the name in its body. */
function targetOf(c: Context<Env>): string {
  const params = Object.values(c.req.param() as Record<string, string>);
  if (params.length) return params.join(" ");
  const { name, email } = (validated(c, "json") ?? {}) as { name?: unknown; email?: unknown };
  return [name, email].find((value) => typeof value === "string") as string ?? "";
}
