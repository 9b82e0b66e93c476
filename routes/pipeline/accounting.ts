/**
 * Records requests: writes, copies of data and denied reads of API tokens in the audit log, and all
 * requests with the access policy, if any.
 *
 * @module
 */

import type { Context, Handler } from "hono";
import type { Caller } from "../../services/access/caller.ts";
import { isDenial } from "../../services/access/scope.ts";
import type { AccessPolicy, Observation } from "../../services/access/policy.ts";
import type { Endpoint, RecordPhase } from "../contract/endpoint.ts";
import { AUDITED_HEADER } from "../../services/fleet/notes/note.ts";
import { failureOf } from "./errors.ts";
import { type EndpointDeps, type Env, type Serve, validated } from "./request_context.ts";

/**
 * Records the outcome of each request. The audit log omits most anonymous requests and every 429,
 * so that anonymous clients cannot fill the disk. The access policy has its own limits for them.
 */
export function accounting(
  endpoint: Endpoint,
  route: string,
  { audit, changes, currentPolicy, deniedReads, license }: EndpointDeps,
  serve: Serve,
): Handler<Env> {
  const method = endpoint.method.toUpperCase();
  const isWrite = (method !== "GET" || endpoint.upgrades) && !endpoint.unaudited;
  const isAudited = isWrite || endpoint.audited === true;
  const action = `${method} ${route}`;
  const resource = findResource(route);
  // Changes of one container are in the stream already, and a login is not a change.
  const isChange = isWrite && !endpoint.audited && endpoint.scope !== "container" &&
    endpoint.role !== "public";

  return async (c) => {
    c.env.route = route;
    const policy = await currentPolicy();
    if (policy) c.set("policy", policy);
    c.set("note", {});
    if (endpoint.upgrades || endpoint.forwards) {
      c.set("recordPhase", (phase, entry) => recordPhase(c, phase, entry));
    }
    let response: Response;
    try {
      response = await serve(c);
    } catch (error) {
      await recordOutcome(c, failureOf(error, license.edition).status, policy);
      throw error;
    }
    // The handler of an upgrade records the start and the end.
    const isUpgrade = response.status === 101;
    // The hub that passed the request on does not know which reads are audited.
    if (endpoint.audited && c.env.noted) response.headers.set(AUDITED_HEADER, "true");
    const isRecorded = isAudited || policy || c.get("note").audited;
    if (isRecorded && !isUpgrade) await recordOutcome(c, response.status, policy);
    return response;
  };

  async function recordOutcome(c: Context<Env>, status: number, policy: AccessPolicy | undefined) {
    // The request that installs a license or starts the trial is the first one to be recorded.
    const recorder = policy ?? await currentPolicy();
    const caller = c.get("caller") as Caller | undefined;
    const { actor, audited, command = null, isRoutine, step, unaudited, ...note } = c.get("note");
    const own = note.target === undefined ? readTargets(c) : [note.target];
    const targets = note.targets ?? own;
    const target = (own.length > 0 ? own : targets).join(" ");
    const outcome = classifyOutcome(status, caller);
    // Wrong keys and passwords are throttled; malformed anonymous requests are not.
    const isAttempt = status < 400 || status === 401 || status === 403;
    const isRelevant = caller !== undefined && (caller.role !== "public" || isAttempt);
    const isEntry = isAudited || audited === true;
    const isDeniedRead = !isEntry && isRelevant &&
      deniedReads.isNew(caller, status, `${action} ${target}`);
    if (isDeniedRead) audit({ caller, action, target, targets, command, outcome: "denied" });
    if (isEntry && !unaudited && isRelevant && status !== 429) {
      const userId = actor ?? caller.userId;
      const part = step === undefined ? action : `${action} (${step})`;
      audit({ caller: { ...caller, userId }, action: part, target, targets, command, outcome });
      if (isChange && outcome === "success") changes.record(resource);
    }
    if ((endpoint.unrecorded || isRoutine) && outcome === "success") return;
    const result = { caller, target, targets, command, status, outcome, actor, phase: step };
    await recorder?.record({ ...describeRequest(c), ...result });
  }

  async function recordPhase(
    c: Context<Env>,
    phase: "start" | "end",
    { targets, command, outcome }: Parameters<RecordPhase>[1],
  ): Promise<void> {
    const caller = c.get("caller");
    const target = readTargets(c).join(" ");
    audit({ caller, action: `${action} (${phase})`, target, targets, command, outcome });
    // The edition may have changed meanwhile.
    const recorder = await currentPolicy();
    const result = { caller, target, targets, command, status: 101, phase, outcome };
    await recorder?.record({ ...describeRequest(c), ...result, actor: undefined });
  }

  function describeRequest({ env: { address, requestId } }: Context<Env>) {
    return { address, requestId, method, path: route, permission: endpoint.permission };
  }
}

/** The part before the first parameter: `/api/webhooks` of `/api/webhooks/:id/test`. */
const findResource = (route: string): string => route.split("/:")[0]!;

function classifyOutcome(status: number, caller: Caller | undefined): Observation["outcome"] {
  if (status === 402 || isDenial(status, caller?.scope)) return "denied";
  return status < 400 ? "success" : "failure";
}

/** The path's parameters, else the name in the body. */
function readTargets(c: Context<Env>): string[] {
  const params = Object.values(c.req.param() as Record<string, string>);
  if (params.length) return params;
  const { name, email } = (validated(c, "body") ?? {}) as { name?: unknown; email?: unknown };
  return [name, email].filter((value) => typeof value === "string").slice(0, 1);
}
