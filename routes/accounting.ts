/**
 * Records the outcome of requests: writes in the audit log, all of them in the guard's log.
 *
 * @module
 */

import type { Context, MiddlewareHandler } from "hono";
import type { Caller } from "../services/auth/caller.ts";
import type { Observation } from "../services/access_policy.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Env, type RequestContext, validated } from "./request_context.ts";

/**
 * Records the outcome of each request: writes in the audit log, all of them in the guard's log.
 *
 * The audit log omits most anonymous requests and every 429, so that anonymous clients cannot fill
 * the disk. The guard's log has its own limits for them.
 */
export function accounted(
  endpoint: Endpoint,
  route: string,
  { audit, guard }: RequestContext,
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
    // The request that installs a license or begins the trial is the first one to be recorded.
    const recording = guarding ?? (isAudited ? await guard() : undefined);
    if (!isAudited && !recording) return;

    const caller = c.get("caller") as Caller | undefined;
    const { status } = c.res;
    const { actor, command = null, ...note } = c.get("note");
    const named = note.target === undefined ? targetsOf(c) : [note.target];
    const targets = note.targets ?? named;
    const target = (named.length > 0 ? named : targets).join(" ");
    const outcome = outcomeOf(status);
    // Wrong keys and passwords are throttled; malformed anonymous requests are not.
    const isTry = status < 400 || status === 401 || status === 403;
    const isKnown = caller !== undefined && (caller.role !== "public" || isTry);
    if (isAudited && isKnown && status !== 429) {
      const userId = actor ?? caller.userId;
      audit({ caller: { ...caller, userId }, action, target, targets, command, outcome });
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
      targets,
      command,
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
function targetsOf(c: Context<Env>): string[] {
  const params = Object.values(c.req.param() as Record<string, string>);
  if (params.length) return params;
  const { name, email } = (validated(c, "body") ?? {}) as { name?: unknown; email?: unknown };
  return [name, email].filter((value) => typeof value === "string").slice(0, 1);
}
