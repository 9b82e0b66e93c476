/** Hosts of the fleet that a caller sees: the only place that decides it. @module */

import { type Caller, isOfToken } from "./caller.ts";
import { type HostLimits, matchesAny, type Scope, type ScopedHost, UNLIMITED } from "./scope.ts";

/** Whether a caller may see a host, also after their custom roles have changed. */
export function seesHost({ scope, rights }: Pick<Caller, "scope" | "rights">, host: ScopedHost) {
  const ofRoles = rights ? rights.hostLimits() : scope?.ofRoles;
  return (scope === undefined || matchesLimits(scope, host)) &&
    (ofRoles === undefined || ofRoles.some((limits) => matchesLimits(limits, host)));
}

/** Whether a host matches the patterns and has one of the labels. */
export function matchesLimits({ hosts, hostLabels }: HostLimits, host: ScopedHost): boolean {
  return (hosts === null || matchesAny(hosts, host.name)) &&
    (hostLabels === null || hostLabels.some((label) => hasLabel(host, label)));
}

/** Whether a host has a label, given as `key` or `key=value`. */
export function hasLabel({ labels }: Pick<ScopedHost, "labels">, label: string): boolean {
  const [key = "", ...value] = label.split("=");
  if (!Object.hasOwn(labels, key)) return false;
  return value.length === 0 || labels[key] === value.join("=");
}

/**
 * The scope of a caller at a host that they see: without limits to hosts, which a host knows nothing of.
 *
 * @returns `undefined` for a login.
 */
export function scopeAtHost(caller: Pick<Caller, "scope" | "apiToken" | "hub">): Scope | undefined {
  if (!isOfToken(caller)) return undefined;
  const { permissions, stacks, containers } = caller.scope!;
  return { ...UNLIMITED, permissions, stacks, containers };
}

/** The caller with the limits of their custom roles. */
export function withRoleLimits(caller: Caller, ofRoles: readonly HostLimits[] | undefined): Caller {
  return ofRoles ? { ...caller, scope: { ...caller.scope ?? UNLIMITED, ofRoles } } : caller;
}

/**
 * Returns a function that says whether the limits of a caller to hosts are still the same: what a login
 * has opened before must end when they change.
 */
export function hostLimitsKept({ rights }: Pick<Caller, "rights">): () => boolean {
  const read = () => JSON.stringify(rights?.hostLimits());
  const before = read();
  return () => read() === before;
}
