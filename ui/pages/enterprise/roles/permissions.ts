/**
 * The catalog of permissions that custom roles grant and that tokens can be limited to, as in
 * `services/access/permissions.ts`.
 *
 * @module
 */

import type { Permission } from "../../../api/types.ts";
import { addStyles } from "../../../components/styles.ts";
import styles from "./permissions.css" with { type: "text" };

addStyles(styles);

export type Resource = Permission["resource"];
export type Action = Permission["actions"][number];

/** Every resource or every action, including those of later versions. */
export const ANY = "*";

const READ_WRITE: readonly Action[] = ["read", "write"];

/** The type reports a resource that is missing here, a test a missing action. */
export const ACTIONS: Record<Exclude<Resource, "*">, readonly Action[]> = {
  containers: [
    "read",
    "start",
    "stop",
    "restart",
    "pause",
    "update",
    "write",
    "delete",
    "rebuild",
    "exec",
    "logs",
  ],
  stacks: ["read", "start", "stop", "restart", "update", "write"],
  stack_sources: ["read"],
  git: READ_WRITE,
  images: ["read", "write", "export", "delete", "prune"],
  volumes: ["read", "write", "delete", "prune"],
  networks: READ_WRITE,
  swarm: READ_WRITE,
  swarm_secrets: READ_WRITE,
  system: ["read", "prune"],
  alerts: READ_WRITE,
  registries: READ_WRITE,
  webhooks: READ_WRITE,
  notifications: READ_WRITE,
  schedules: READ_WRITE,
  integrations: READ_WRITE,
  backup: ["read", "run", "write"],
  files: READ_WRITE,
  incidents: READ_WRITE,
  remediation: READ_WRITE,
  status_pages: READ_WRITE,
  uptime: READ_WRITE,
  chatops: READ_WRITE,
  sla: READ_WRITE,
  fleet: READ_WRITE,
  users: READ_WRITE,
  settings: READ_WRITE,
  compliance: READ_WRITE,
  sso: READ_WRITE,
  custom_roles: READ_WRITE,
  ip_allowlist: READ_WRITE,
  mtls: READ_WRITE,
  encryption: READ_WRITE,
};

export const RESOURCES = [ANY, ...Object.keys(ACTIONS)] as readonly Resource[];

/** The actions of a resource, with `*` first. Resource `*` has all actions. */
export const actionsOf = (resource: Resource): readonly Action[] => [
  ANY,
  ...resource === ANY ? new Set(Object.values(ACTIONS).flat()) : ACTIONS[resource],
];

/** E.g. `status_pages` as `status pages`, and `*` as `all`. */
export const permissionText = (name: Resource | Action): string =>
  name === ANY ? "all" : name.replaceAll("_", " ");
