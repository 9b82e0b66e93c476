/**
 * The compliance entry of an observed request: who did what to what, with what outcome. It contains
 * the contract of the endpoint, the path and what the handler noted: no other body, query or token.
 *
 * @module
 */

import type { Category, Severity } from "../../../db/enterprise/compliance_logs.ts";
import type { Observation } from "../../access_policy.ts";
import { actorOf, type NewEntry } from "./append.ts";

/** The category of each resource that roles know. */
const CATEGORY_OF: Readonly<Record<string, Category>> = {
  containers: "container",
  stacks: "container",
  images: "container",
  volumes: "container",
  networks: "container",
  system: "system",
  alerts: "configuration",
  webhooks: "configuration",
  schedules: "configuration",
  integrations: "configuration",
  remediation: "configuration",
  status_pages: "configuration",
  chatops: "configuration",
  settings: "configuration",
  edition: "configuration",
  incidents: "data",
  uptime: "data",
  sla: "data",
  users: "authorization",
  custom_roles: "authorization",
  sso: "security",
  ip_allowlist: "security",
  mtls: "security",
  encryption: "security",
  compliance: "security",
};

/** How people come in and go: `/auth/login`, `/api/stream/ticket`, and single sign-on's way. */
const AUTHENTICATION =
  /^\/auth\/(?!users\b)|^\/auth\/users\/:id\/password$|^\/api\/stream\/ticket$|\/sso\/(login|acs)\b/;

/** Who asks whether a client's certificate is known asks for that client. */
const AGENTS = /\/mtls\/verify$/;

const PREFIX = /^\/(api\/)?(ext\/[^/]+\/)?/;

/** By method, where the path does not say more. */
const VERBS: Readonly<Record<string, string>> = {
  GET: "read",
  POST: "create",
  PUT: "update",
  DELETE: "delete",
};

/** Longest target and command in UTF-16 code units, and most targets of one entry. */
const TARGET_MAX = 300;
const COMMAND_MAX = 500;
const TARGETS_MAX = 100;

/** Whether a path is one by which people come in or go. */
export const isAuthentication = (path: string) => AUTHENTICATION.test(path);

/** Where tokens are issued: `/auth/token`, `/auth/login`, `/auth/refresh`, and by SSO. */
const LOGIN = /^\/auth\/(token|login|refresh)$|\/sso\/(login|acs)\b/;

/** Wrong credentials, a refused address or too many attempts; malformed requests do not count. */
const LOGIN_FAILURES: readonly number[] = [401, 403, 429];

/** Whether a login was refused. */
export const isFailedLogin = ({ path, status }: Observation) =>
  LOGIN.test(path) && LOGIN_FAILURES.includes(status);

/** The entry of a request. */
export function observedEntry(observation: Observation): NewEntry {
  const { actor, address, caller, command, method, outcome, path, requestId, status } = observation;
  const targets = boundedTargets(observation);
  const isDenied = status === 401 || status === 403;
  const { resource, action } = actionOf(observation);
  const who = actorOf({ userId: actor ?? caller?.userId ?? "" });
  return {
    ...who,
    ...(actor !== undefined && AGENTS.test(path) && { actor_type: "agent" as const }),
    category: isAuthentication(path)
      ? "authentication"
      : isDenied
      ? "authorization"
      : CATEGORY_OF[resource] ?? "data",
    severity: severityOf(status),
    action: `${resource}.${action}`,
    resource_type: resource,
    resource_id: targetOf(observation),
    detail: `${method} ${path}: ${status}`,
    outcome: outcome === "success" ? "success" : "failure",
    metadata: {
      method,
      path,
      status,
      address,
      request_id: requestId,
      ...(caller && caller.role !== "public" && { role: caller.role }),
      ...(targets.length > 1 && { targets }),
      ...(command !== null && { command: command.slice(0, COMMAND_MAX).toWellFormed() }),
    },
    recorded_by: null,
  };
}

function severityOf(status: number): Severity {
  return status >= 500 ? "error" : status >= 400 ? "warning" : "info";
}

/** From the permission, which names both; where that says no more than "write", by path or method. */
function actionOf(
  { method, path, permission }: Observation,
): { resource: string; action: string } {
  const parts = path.replace(PREFIX, "").split("/").filter(Boolean).map(named);
  const verb = VERBS[method] ?? method.toLowerCase();
  const [resource, action] = isAuthentication(path) ? [] : permission?.split(":") ?? [];
  if (resource === undefined || action === undefined) {
    const [first = "service", ...rest] = parts.filter((part) => !part.startsWith(":"));
    return { resource: first, action: rest.join(".") || verb };
  }
  if (action !== "write") return { resource, action };
  // What follows a parameter says what is done to it: .../:id/toggle
  const last = parts.at(-1)!;
  const says = !last.startsWith(":") && parts.at(-2)?.startsWith(":") && method !== "DELETE";
  return { resource, action: says ? last : verb };
}

const named = (part: string) => part.replaceAll("-", "_");

/** A token in a path is a secret and must not be readable in a log. */
const hasToken = (path: string) => /:\w*token\b/i.test(path);

function targetOf({ path, target }: Observation): string | null {
  return target === "" || hasToken(path) ? null : target.slice(0, TARGET_MAX);
}

function boundedTargets({ path, targets }: Observation): string[] {
  if (hasToken(path)) return [];
  return targets.slice(0, TARGETS_MAX).map((name) => name.slice(0, TARGET_MAX).toWellFormed());
}
