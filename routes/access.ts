/**
 * Refuses who may not call: address (403), token (401), edition (402), role or permission (403), in
 * this order.
 *
 * @module
 */

import type { Context, MiddlewareHandler } from "hono";
import { type Caller, includesRole } from "../services/auth/caller.ts";
import { type Edition, includesEdition } from "../services/license/edition.ts";
import { AppError, LimitError } from "../services/errors.ts";
import type { AccessPolicy } from "../services/access_policy.ts";
import type { Endpoint } from "./endpoint.ts";
import { respond } from "./exchange.ts";
import { editionNeeded } from "./features.ts";
import type { Env, Identify, RequestContext } from "./request_context.ts";

/** Refuses who may not call. */
export function gate(
  endpoint: Endpoint,
  edition: Edition,
  { license, identify }: RequestContext,
): MiddlewareHandler<Env> {
  const metrics = endpoint.acceptsMetricsToken;
  return async function gate(c, next) {
    const { address } = c.env;
    const guard = c.get("guard") as AccessPolicy | undefined;
    const ticket = endpoint.acceptsTicket ? c.req.query("ticket") : undefined;
    const find = () => identify(c.req.raw, { address, ticket, metrics });
    if (guard && !endpoint.anyAddress) {
      try {
        guard.admit(address);
      } catch (refusal) {
        // Whose token came from there is worth knowing, though it opens nothing.
        const caller = await anonymousUnless(find, address);
        if (caller.role !== "public") c.set("caller", caller);
        throw refusal;
      }
    }
    const found = endpoint.role === "public" ? anonymousUnless(find, address) : find();
    let caller = found instanceof Promise ? await found : found;

    if (!caller) throw new AppError("unauthorized", "A bearer token is required");
    if (caller.role !== "public") c.env.isKnown = true;
    if (guard && caller.role !== "public") {
      caller = withRights(caller, guard);
      if (!caller.rights!.isAdmitted()) {
        c.set("caller", caller);
        if (!endpoint.anyAddress) guard.admit(address, caller);
        caller = anonymous(address);
      }
    }
    c.set("caller", caller);
    if (!includesEdition(license.edition, edition)) {
      if (endpoint.hiddenUnlicensed) throw new AppError("not_found", `No such path: ${c.req.path}`);
      throw new LimitError(editionNeeded(endpoint, edition), 0, 0);
    }
    if (!includesRole(caller.role, endpoint.role) && !isGranted(guard, caller, endpoint)) {
      throw roleMissing(endpoint, guard?.hasCustomRoles === true);
    }
    endpoint.proof?.(c.req.raw);
    if (endpoint.actsOnGet && c.env.isHead) return respond(c.env, 200, null, {});
    await next();
  };
}

function isGranted(
  guard: AccessPolicy | undefined,
  { userId }: Caller,
  { permission, orPermissions = [] }: Endpoint,
): boolean {
  return guard !== undefined && permission !== undefined &&
    [permission, ...orPermissions].some((each) => guard.grants(userId, each));
}

/** Lets the handler ask as well what the guard knows of the caller. */
function withRights(caller: Caller, guard: AccessPolicy): Caller {
  const { userId } = caller;
  return {
    ...caller,
    rights: {
      grants: (permission) => guard.grants(userId, permission),
      includeThoseOf: (other) => guard.includesRightsOf(caller, other),
      isAdmitted: () => guard.admits(caller),
    },
  };
}

const anonymous = (address: string): Caller => ({
  userId: "",
  role: "public",
  familyId: "",
  address,
});

/** On a public endpoint a token that is not valid is as good as none. */
async function anonymousUnless(
  find: () => ReturnType<Identify>,
  address: string,
): Promise<Caller> {
  try {
    return await find() ?? anonymous(address);
  } catch {
    return anonymous(address);
  }
}

function roleMissing({ role, permission }: Endpoint, hasPermissions: boolean): AppError {
  const or = hasPermissions && permission !== undefined ? ` or the permission ${permission}` : "";
  return new AppError("forbidden", `The role ${role}${or} is required for this`);
}

/** See `Input.admit`. The logs name the user from here on. */
export function admitActor(c: Context<Env>, userId: string): void {
  c.get("note").actor = userId;
  const guard = c.get("guard") as AccessPolicy | undefined;
  guard?.admit(c.env.address, { ...c.get("caller"), userId, role: "viewer" });
}
