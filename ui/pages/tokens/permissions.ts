/**
 * The permissions that a token can be limited to.
 *
 * @module
 */

import type { ApiToken } from "../../api/types.ts";

type Permission = NonNullable<ApiToken["permissions"]>[number];

type Resource = Permission extends `${infer Name}:${string}` ? Name : never;

/** The actions of each resource. The type reports one that does not exist. */
export const PERMISSIONS: {
  readonly [Name in Resource]: readonly (
    Permission extends infer Each ? Each extends `${Name}:${infer Action}` ? Action : never : never
  )[];
} = {
  containers: [
    "read",
    "start",
    "stop",
    "restart",
    "pause",
    "write",
    "delete",
    "rebuild",
    "exec",
    "logs",
  ],
  stacks: ["read", "start", "stop", "restart", "update", "write"],
  stack_sources: ["read"],
  images: ["read", "write", "export", "delete", "prune"],
  volumes: ["read", "write", "delete", "prune"],
  networks: ["read", "write"],
  system: ["read", "prune"],
  alerts: ["read", "write"],
  registries: ["read", "write"],
  webhooks: ["read", "write"],
  notifications: ["read", "write"],
  schedules: ["read", "write"],
  integrations: ["read", "write"],
  incidents: ["read", "write"],
  remediation: ["read", "write"],
  status_pages: ["read", "write"],
  uptime: ["read", "write"],
  chatops: ["read", "write"],
  sla: ["read", "write"],
  users: ["read", "write"],
  settings: ["read", "write"],
  compliance: ["read", "write"],
  sso: ["read", "write"],
  custom_roles: ["read", "write"],
  ip_allowlist: ["read", "write"],
  mtls: ["read", "write"],
  encryption: ["read", "write"],
};
