/** Applies the scope of an API token to a request. See `services/access/scope.ts`. @module */

import { type Caller, isOfToken } from "../../services/access/caller.ts";
import {
  allowsPermission,
  includesContainer,
  includesStack,
  isLimited,
  isOfHosts,
  stackOf,
} from "../../services/access/scope.ts";
import { redactFailure, visibleTo } from "../../services/containers/visible.ts";
import {
  currentContainers,
  type ReadDeps,
  resolveContainer,
} from "../../services/containers/reads.ts";
import { AppError, asAppError, notFound } from "../../services/errors.ts";
import { type Endpoint, permissionsOf } from "../contract/endpoint.ts";

/** The path parameters of a request. */
type Params = Record<string, string>;

/** Implements `Contract.scope` for callers that are limited to stacks or containers. */
export interface ScopeCheck {
  /**
   * Checks the container or stack in the path. Returns the parameters with the full id of the
   * container, because a name or prefix could refer to another one later.
   *
   * @throws {AppError} `not_found`, as for an unknown container or stack.
   */
  resolve(endpoint: Endpoint, caller: Caller, params: Params): Promise<Params>;
  /**
   * Returns the failure without names of containers outside of the scope, except those in the
   * request.
   */
  redact(error: unknown, caller: Caller, request: unknown): unknown;
}

export function createScopeCheck(deps: ReadDeps): ScopeCheck {
  return {
    async resolve({ scope }, caller, params) {
      if (scope === "container") {
        const { id } = await resolveContainer(visibleTo(deps, caller), params.id!);
        return { ...params, id };
      }
      if (scope === "stack") await assertStackInScope(deps, caller, params.name!);
      return params;
    },

    redact(error, caller, request) {
      const known = asAppError(error);
      return known ? redactFailure(deps, caller, known, JSON.stringify(request) ?? "") : error;
    },
  };
}

/**
 * Refuses an API token for what only a login may do, and one without the endpoint's permission.
 *
 * @throws {AppError} `forbidden`
 */
export function assertTokenAllowed(endpoint: Endpoint, caller: Caller): void {
  const { scope } = caller;
  if (!scope || !isOfToken(caller)) return;
  if (endpoint.loginOnly) {
    throw new AppError("forbidden", "API tokens cannot be used for this; log in instead");
  }
  if (!scope.permissions || endpoint.role === "public") return;
  const permissions = permissionsOf(endpoint);
  const isAllowed = permissions.length === 0
    ? endpoint.scope === "open"
    : permissions.some((permission) => allowsPermission(scope, permission));
  if (isAllowed) return;
  throw new AppError(
    "forbidden",
    permissions.length === 0
      ? "Not available to an API token that is limited to permissions"
      : `This API token does not have the permission ${permissions.join(" or ")}`,
  );
}

/**
 * Refuses a caller that is limited to stacks, containers or hosts, unless the endpoint says how it
 * treats one.
 *
 * @throws {AppError} `not_found`
 */
export function assertInScope(endpoint: Endpoint, caller: Caller): void {
  const { role, scope, showsServer = false } = endpoint;
  if (role === "public" || !isLimited(caller.scope)) return;
  const ofHosts = isOfHosts(caller.scope);
  const isOpen = scope === "hosts" ? ofHosts : scope !== undefined && !(showsServer && ofHosts);
  if (isOpen || isOwnAccount(endpoint, caller)) return;
  throw new AppError(
    "not_found",
    isOfToken(caller)
      ? "Not available to an API token that is limited to stacks, containers or hosts"
      : "Not available to an account that is limited to hosts",
  );
}

/** A login that is limited to hosts still has its account. */
const isOwnAccount = (endpoint: Endpoint, caller: Caller): boolean =>
  !isOfToken(caller) && endpoint.loginOnly === true && permissionsOf(endpoint).length === 0 &&
  endpoint.role === "viewer";

/** A stack is in the scope with all of its containers, because an action affects them all. */
async function assertStackInScope(deps: ReadDeps, { scope }: Caller, name: string): Promise<void> {
  if (includesStack(scope, name)) return;
  const members = (await currentContainers(deps)).filter((each) => stackOf(each) === name);
  const isIncluded = members.length > 0 && members.every((each) => includesContainer(scope, each));
  if (!isIncluded) throw notFound("Stack", name);
}
