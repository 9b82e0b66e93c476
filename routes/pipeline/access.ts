/**
 * Refuses a request by address (403), token (401), missing second factor (403), edition (402), role or permission (403), and by
 * the endpoint's own limit of requests (429), in this order.
 *
 * @module
 */

import type { Context } from "hono";
import type { AccessPolicy } from "../../services/access/policy.ts";
import {
  type Caller,
  includesRole,
  isOfToken,
  mayDo,
  roleRequired,
} from "../../services/access/caller.ts";
import { permissionsOfRoles, withRights } from "../../services/access/policy_rights.ts";
import type { ScopedHost } from "../../services/access/scope.ts";
import { AppError, LimitError } from "../../services/errors.ts";
import { type Edition, includesEdition } from "../../services/edition.ts";
import { type Endpoint, permissionsOf } from "../contract/endpoint.ts";
import { editionNeeded } from "./features.ts";
import { assertHubAllowed } from "./hub.ts";
import { assertInScope, assertTokenAllowed } from "./scope.ts";
import type { EndpointDeps, Env } from "./request_context.ts";

/** Checks that a request may use the endpoint, and stores its caller in the context. */
export function accessCheck(
  endpoint: Endpoint,
  edition: Edition,
  { assertEnrolled, license, identify }: EndpointDeps,
): (c: Context<Env>) => Promise<void> {
  return async function checkAccess(c) {
    try {
      if (!endpoint.anyAddress && !c.env.noted) policyOf(c)?.admit(c.env.address);
    } catch (refusal) {
      // The address is admitted for no caller. The logs name the user of a valid token anyway.
      const caller = await findValidCaller(c);
      if (caller) c.set("caller", caller);
      throw refusal;
    }
    endpoint.assertBrowser?.(c.req.raw);
    checkRights(c, await (endpoint.role === "public" ? findValidCaller(c) : findCaller(c)));
  };

  /** @throws {AppError} `unauthorized` for an invalid token. */
  function findCaller(c: Context<Env>) {
    const { noted } = c.env;
    return noted ? withTicket(c, noted) : findOwnCaller(c);
  }

  /** The ticket of a hub's user is for the link: elsewhere it would outlive the hub's checks. */
  async function findOwnCaller(c: Context<Env>) {
    const caller = await findDirectCaller(c);
    if (!caller?.hub) return caller;
    throw new AppError("unauthorized", "The ticket is for requests of the hub");
  }

  /** The terminal of a passed-on request is that of its ticket, which the same user got here. */
  async function withTicket(c: Context<Env>, noted: Caller): Promise<Caller> {
    if (endpoint.acceptsTicket !== "terminal") return noted;
    const holder = await findDirectCaller(c);
    if (holder && (holder.userId !== noted.userId || !holder.hub)) {
      throw new AppError("unauthorized", "The ticket is for another user");
    }
    return { ...noted, terminal: holder?.terminal };
  }

  function findDirectCaller(c: Context<Env>) {
    return identify(c.req.raw, {
      address: c.env.address,
      ticket: endpoint.acceptsTicket ? c.req.query("ticket") : undefined,
      terminal: endpoint.acceptsTicket === "terminal",
      metrics: endpoint.acceptsMetricsToken,
    });
  }

  /** Ignores an invalid token. */
  async function findValidCaller(c: Context<Env>) {
    try {
      return await findCaller(c);
    } catch {
      return undefined;
    }
  }

  function checkRights(c: Context<Env>, found: Caller | undefined): void {
    const caller = applyPolicy(c, endpoint, identifiedCaller(c, endpoint, found));
    if (endpoint.role !== "public" && !endpoint.withoutFactor) assertEnrolled(caller);
    assertHubAllowed(c.env.route!, endpoint, c.env.noted?.hub ?? caller.hub);
    checkEdition(c, endpoint, edition, license.edition);
    assertTokenAllowed(endpoint, caller);
    checkRole(endpoint, caller, policyOf(c));
    assertInScope(endpoint, caller);
    endpoint.proof?.(c.req.raw);
    endpoint.throttle?.(c.env.address);
  }
}

/** The policy is set only with the edition that has one. */
const policyOf = (c: Context<Env>) => c.get("policy") as AccessPolicy | undefined;

/** Requires a caller with a token, except on a public endpoint. */
function identifiedCaller(
  c: Context<Env>,
  { role, acceptsTicket }: Endpoint,
  caller: Caller | undefined,
): Caller {
  // Public endpoints have no permission that a token with limits could lack.
  if (role === "public") return caller && !isOfToken(caller) ? caller : anonymous(c);
  if (caller) return caller;
  const what = acceptsTicket === "terminal" ? "ticket" : "bearer token";
  throw new AppError("unauthorized", `A ${what} is required`);
}

/**
 * Adds the rights of custom roles to a caller with a token, and refuses one whose address is not
 * admitted for them. Where every address may call, such a caller counts as anonymous.
 */
function applyPolicy(c: Context<Env>, endpoint: Endpoint, identified: Caller): Caller {
  const policy = policyOf(c);
  let caller = identified;
  if (caller.role !== "public") {
    c.env.isKnown = true;
    // The policy knows neither the users of a hub nor their addresses.
    if (policy && !caller.hub) {
      caller = withRights(caller, policy);
      c.set("caller", caller);
      if (!policy.admits(caller)) {
        if (!endpoint.anyAddress) policy.admit(c.env.address, caller);
        caller = anonymous(c);
      }
    }
  }
  c.set("caller", caller);
  return caller;
}

function checkEdition(c: Context<Env>, endpoint: Endpoint, needed: Edition, current: Edition) {
  if (includesEdition(current, needed)) return;
  if (endpoint.hiddenUnlicensed) throw new AppError("not_found", `No such path: ${c.req.path}`);
  throw new LimitError(editionNeeded(endpoint, needed), 0, 0);
}

function checkRole(endpoint: Endpoint, caller: Caller, policy: AccessPolicy | undefined) {
  const { role } = endpoint;
  if (includesRole(caller.role, role)) return;
  const permissions = permissionsOf(endpoint);
  if (permissions.some((permission) => mayDo(caller, role, permission))) return;
  const or = policy?.hasCustomRoles && permissions.length > 0
    ? ` or the permission ${permissions[0]}`
    : "";
  throw roleRequired(caller, role, or);
}

const anonymous = (c: Context<Env>): Caller => ({
  userId: "",
  role: "public",
  familyId: "",
  address: c.env.address,
});

/** Implements `Input.admit`. The logs name the user from here on. */
export function admitUser(c: Context<Env>, userId: string): void {
  c.get("note").actor = userId;
  policyOf(c)?.admit(c.env.address, { ...c.get("caller"), userId, role: "viewer" });
}

/** Implements `Input.rightsOf`. */
export const rightsOfUser = (c: Context<Env>, userId: string) => ({
  permissions: permissionsGrantedTo(c, userId),
  isLimitedToHosts: policyOf(c)?.hostLimits(userId) !== undefined,
});

/** Implements `Input.grantedTo`. */
export const permissionsGrantedTo = (
  c: Context<Env>,
  userId: string,
  host?: ScopedHost,
): string[] => permissionsOfRoles(policyOf(c), userId, host);
