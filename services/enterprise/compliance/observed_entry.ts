/**
 * Compliance entries of requests: actor, action, target and outcome. An entry contains the path
 * and the details noted by the handler, but no body, query or token.
 *
 * @module
 */

import type { Category, Severity } from "../../../db/enterprise/compliance_logs.ts";
import type { Observation } from "../../access/policy.ts";
import { isDenial } from "../../access/scope.ts";
import { actorOf, type NewEntry } from "./append.ts";

/** Category by resource of the permission catalog. */
const CATEGORY_OF: Readonly<Record<string, Category>> = {
  containers: "container",
  stacks: "container",
  images: "container",
  volumes: "container",
  networks: "container",
  system: "system",
  alerts: "configuration",
  registries: "configuration",
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
  tokens: "authorization",
  custom_roles: "authorization",
  sso: "security",
  ip_allowlist: "security",
  mtls: "security",
  encryption: "security",
  compliance: "security",
};

/** Paths of logins and logouts: `/auth/login`, `/api/stream/ticket`, single sign-on. */
const AUTHENTICATION =
  /^\/auth\/(?!users\b)|^\/auth\/users\/:id\/password$|^\/api\/stream\/ticket$|\/sso\/(login|acs)\b/;

/** The actor of an mTLS verification is the agent that shows the certificate. */
const AGENTS = /\/mtls\/verify$/;

const PREFIX = /^\/(api\/)?(ext\/[^/]+\/)?/;

/** Action by method, used if the path does not name one. */
const VERBS: Readonly<Record<string, string>> = {
  GET: "read",
  POST: "create",
  PUT: "update",
  DELETE: "delete",
};

/** Maximum length of targets and commands in UTF-16 code units, and maximum targets per entry. */
const TARGET_MAX = 300;
const COMMAND_MAX = 500;
const TARGETS_MAX = 100;

/** Whether a path belongs to a login or logout. */
export const isAuthentication = (path: string) => AUTHENTICATION.test(path);

/** Paths that issue tokens, also as the cookie of a browser. */
const LOGIN =
  /^\/auth\/(token|login|refresh|setup|mfa|passkey(\/options)?|oidc\/(:id\/)?callback|session(\/refresh)?)$|\/sso\/(login|acs)\b/;

/** Wrong credentials, a refused address or too many attempts, but not malformed requests. */
const LOGIN_FAILURES: readonly number[] = [401, 403, 429];

export const isFailedLogin = ({ path, status }: Observation) =>
  LOGIN.test(path) && LOGIN_FAILURES.includes(status);

export function observedEntry(observation: Observation): NewEntry {
  const { actor, address, caller, command, method, outcome, path, phase, requestId, status } =
    observation;
  const targets = boundedTargets(observation);
  const isDenied = isDenial(status, caller?.scope);
  const { resource, action } = actionOf(observation);
  return {
    ...actorOf({ userId: actor ?? caller?.userId ?? "" }),
    ...(actor !== undefined && AGENTS.test(path) && { actor_type: "agent" as const }),
    category: isAuthentication(path)
      ? "authentication"
      : isDenied
      ? "authorization"
      : CATEGORY_OF[resource] ?? "data",
    severity: severityOf(status),
    action: [resource, action, phase?.replace(" ", "_")].filter(Boolean).join("."),
    resource_type: resource,
    resource_id: targetOf(observation),
    detail: `${method} ${path}: ${phase ?? status}`,
    outcome: outcome === "success" ? "success" : "failure",
    metadata: {
      method,
      path,
      status,
      address,
      request_id: requestId,
      ...(caller && caller.role !== "public" && { role: caller.role }),
      ...(caller?.apiToken && { token: caller.apiToken.name, token_id: caller.apiToken.id }),
      ...(targets.length > 1 && { targets }),
      ...(command !== null && { command: command.slice(0, COMMAND_MAX).toWellFormed() }),
    },
    recorded_by: null,
  };
}

function severityOf(status: number): Severity {
  return status >= 500 ? "error" : status >= 400 ? "warning" : "info";
}

/**
 * Takes resource and action from the permission. An action `write` is replaced by the more specific
 * end of the path, or by the method.
 */
function actionOf({ method, path, permission }: Observation): { resource: string; action: string } {
  const parts = path.replace(PREFIX, "").replaceAll("-", "_").split("/").filter(Boolean);
  const verb = VERBS[method] ?? method.toLowerCase();
  const [resource, action] = isAuthentication(path) ? [] : permission?.split(":") ?? [];
  if (resource === undefined || action === undefined) {
    const [first = "service", ...rest] = parts.filter((part) => !part.startsWith(":"));
    return { resource: first, action: rest.join(".") || verb };
  }
  if (action !== "write") return { resource, action };
  // The part after a parameter names the action: .../:id/toggle
  const last = parts.at(-1)!;
  const isAction = !last.startsWith(":") && parts.at(-2)?.startsWith(":") && method !== "DELETE";
  return { resource, action: isAction ? last : verb };
}

/** A token in a path is a secret and must not be logged. */
const hasToken = (path: string) => /:\w*token\b/i.test(path);

function targetOf({ path, target }: Observation): string | null {
  return target === "" || hasToken(path) ? null : target.slice(0, TARGET_MAX);
}

function boundedTargets({ path, targets }: Observation): string[] {
  if (hasToken(path)) return [];
  return targets.slice(0, TARGETS_MAX).map((name) => name.slice(0, TARGET_MAX).toWellFormed());
}
