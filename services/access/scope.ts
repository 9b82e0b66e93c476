/**
 * The scope of a caller: an API token may be limited to permissions, stacks, containers and hosts of the
 * fleet, and a login by its custom roles to hosts (`host_scope.ts`).
 *
 * A contract says how its endpoint treats a caller that is limited to stacks, containers or hosts
 * (`Contract.scope` in `routes/contract/endpoint.ts`). A handler that declares `filtered` reads everything
 * about containers through `visibleTo()` (`visible.ts`).
 *
 * @module
 */

/** Hosts of the fleet; each part that is not `null` has to match. */
export interface HostLimits {
  /** Patterns of names of hosts; `*` matches any characters. */
  hosts: readonly string[] | null;
  /** Labels of hosts, as `key` or `key=value`, of which a host has one. */
  hostLabels: readonly string[] | null;
}

/** Each part that is not `null` narrows the caller further. */
export interface Scope extends HostLimits {
  /** E.g. `containers:restart`. */
  permissions: readonly string[] | null;
  /** Patterns of names of compose projects and swarm stacks; `*` matches any characters. */
  stacks: readonly string[] | null;
  /** Patterns of container names. */
  containers: readonly string[] | null;
  /** Limits of the user's custom roles, of which one has to match; missing without any. */
  ofRoles?: readonly HostLimits[];
}

/** Fields of a host of the fleet that decide whether it is in a scope. */
export interface ScopedHost {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** A scope without limits. */
export const UNLIMITED: Scope = {
  permissions: null,
  stacks: null,
  containers: null,
  hosts: null,
  hostLabels: null,
};

/** Fields of a container that decide whether it is in a scope. */
export interface ScopedContainer {
  name: string;
  composeProject: string | null;
  labels: Record<string, string>;
}

/** The compose project or swarm stack that a container belongs to. */
export function stackOf(
  { composeProject, labels }: Pick<ScopedContainer, "composeProject" | "labels">,
): string | null {
  return composeProject ?? labels["com.docker.stack.namespace"] ?? null;
}

/** Whether the scope excludes containers. `undefined` is the scope of a login. */
export function isLimited(scope: Scope | undefined): scope is Scope {
  return scope !== undefined &&
    (scope.stacks !== null || scope.containers !== null || isOfHosts(scope));
}

/** Whether the scope is limited to hosts of the fleet: it then has nothing of this server itself. */
export function isOfHosts(scope: Scope | undefined): boolean {
  return scope !== undefined &&
    (scope.hosts !== null || scope.hostLabels !== null || scope.ofRoles !== undefined);
}

/** Whether a response refuses the caller something: what is outside of a scope is 404. */
export function isDenial(status: number, scope: Scope | undefined): boolean {
  return status === 401 || status === 403 || status === 404 && isLimited(scope);
}

/** Whether the scope has a permission, whatever the role. */
export function allowsPermission(scope: Scope | undefined, permission: string): boolean {
  return !scope?.permissions || scope.permissions.includes(permission);
}

/** Whether a container is in the scope: it has to match the stacks and the containers. */
export function includesContainer(scope: Scope | undefined, container: ScopedContainer): boolean {
  if (!isLimited(scope)) return true;
  if (isOfHosts(scope)) return false;
  const { stacks, containers } = scope;
  const stack = stackOf(container);
  return (stacks === null || (stack !== null && matchesAny(stacks, stack))) &&
    (containers === null || matchesAny(containers, container.name));
}

/** Whether a stack with all of its containers is in the scope. */
export function includesStack(scope: Scope | undefined, name: string): boolean {
  if (!isLimited(scope)) return true;
  if (isOfHosts(scope)) return false;
  return scope.containers === null && scope.stacks !== null && matchesAny(scope.stacks, name);
}

/** Whether a name matches one of the patterns, in which `*` stands for any text. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matches(pattern, name));
}

/** Compares in linear time: each `*` is extended only as far as the next part needs. */
function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
