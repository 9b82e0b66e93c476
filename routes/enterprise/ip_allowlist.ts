/** /ip-allowlist: addresses that may use the service. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { CIDR_MAX } from "../../services/ip_address.ts";
import {
  changeIpAllowlistConfig,
  checkAddress,
  getIpAllowlistConfig,
} from "../../services/enterprise/ip_allowlist/allowlist.ts";
import {
  changeIpRule,
  createIpRule,
  getIpRule,
  IP_RULE_SCOPES,
  IP_RULES_MAX,
  listIpRules,
  removeIpRule,
  setIpRuleEnabled,
} from "../../services/enterprise/ip_allowlist/rules.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Instant, oneLine, Timestamp, ToggleBody } from "../contract/shapes.ts";

const LABEL_MAX = 100;
const DESCRIPTION_MAX = 1_000;

/** Room for an IPv6 address with the name of an interface. */
const ADDRESS_MAX = 64;

const Scope = z.enum(IP_RULE_SCOPES).meta({
  id: "IpRuleScope",
  description: "`global` admits all users, `user` only the user `scope_id`",
});

const fields = {
  cidr: z.string().min(1).max(CIDR_MAX).meta({
    description: "A network or a single address, IPv4 or IPv6. Mapped IPv4 (`::ffff:10.0.0.1`) " +
      "becomes IPv4. All bits after the prefix must be zero. `0.0.0.0/0` admits every IPv4 " +
      "address, `::/0` every IPv6 address.",
    example: "203.0.113.0/24",
  }),
  label: oneLine(LABEL_MAX).meta({ example: "Office" }),
  description: z.string().max(DESCRIPTION_MAX),
  enabled: z.boolean(),
  scope: Scope,
  scope_id: z.string().min(1).max(255).nullable().meta({
    description: "Id of the user; only for the scope `user`",
  }),
  expires_at: Instant.nullable().meta({
    description: "The rule has no effect from this time on",
    example: "2026-12-31T23:00:00Z",
  }),
};

const EXAMPLE = {
  cidr: "203.0.113.0/24",
  label: "Office",
  description: "Office network",
  enabled: true,
  scope: "global" as const,
  expires_at: null,
};

const NewRule = z.object({
  ...fields,
  description: fields.description.default(""),
  enabled: fields.enabled.default(true),
  scope: fields.scope.default("global"),
  scope_id: fields.scope_id.default(null),
  expires_at: fields.expires_at.default(null),
}).meta({ id: "NewIpRule", example: EXAMPLE });

const RuleChange = z.object(fields).partial().meta({ id: "IpRuleChanges", example: EXAMPLE });

const Rule = z.object({
  id: z.string(),
  cidr: z.string().meta({ description: "In its shortest form", example: "203.0.113.0/24" }),
  label: z.string(),
  description: z.string(),
  enabled: z.boolean(),
  scope: Scope,
  scope_id: z.string().nullable(),
  expires_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "IpRule" });

const Config = z.object({
  enforcement_enabled: z.boolean().meta({
    description: "Whether addresses without a matching rule are refused",
  }),
  log_denials: z.boolean().meta({
    description: "Whether refused addresses are logged, each at most ten times a minute",
  }),
}).meta({ id: "IpAllowlistConfig" });

const CheckQuery = z.object({
  ip: z.string().min(1).max(ADDRESS_MAX).optional().meta({
    description: "Default: the address of the caller",
    example: "203.0.113.7",
  }),
  user_id: z.string().min(1).max(255).optional().meta({
    description:
      "A user whose rules apply in addition to the global ones. Default: the caller if " +
      "`ip` is omitted, otherwise none",
  }),
});

const Check = z.object({
  ip: z.string().meta({ example: "203.0.113.7" }),
  allowed: z.boolean(),
  admitted: z.boolean().meta({
    description: "Whether a rule admits the address, also while the allowlist is not enforced",
  }),
  reason: z.string().meta({ example: 'The rule "Office" (203.0.113.0/24) admits it' }),
  rules_evaluated: z.int().meta({
    description: "Number of rules that apply: enabled, not expired, and global or for that user",
  }),
}).meta({ id: "IpCheck" });

const UNKNOWN = { 404: "The rule does not exist" };
const LOCKED_OUT = { 409: "The change would lock out your own address" };

const READ = { role: "admin", permission: "ip_allowlist:read" } as const;
const WRITE = { role: "admin", permission: "ip_allowlist:write" } as const;

export const ipAllowlistEndpoints = (deps: Deps) => [
  endpoint("GET /ip-allowlist/rules", {
    operationId: "listIpRules",
    summary: "List IP rules",
    description: "Newest first.",
    ...READ,
    returns: z.object({ rules: z.array(Rule) }).meta({ id: "IpRuleList" }),
  }, () => listIpRules(deps)),

  endpoint("POST /ip-allowlist/rules", {
    operationId: "createIpRule",
    summary: "Create an IP rule",
    ...WRITE,
    body: NewRule,
    returns: Rule,
    status: 201,
    failures: {
      404: "The user `scope_id` does not exist",
      409: `Limit of ${IP_RULES_MAX} rules reached`,
    },
  }, ({ body }) => createIpRule(deps, body)),

  endpoint("GET /ip-allowlist/rules/:id", {
    operationId: "getIpRule",
    summary: "Get an IP rule",
    ...READ,
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params }) => getIpRule(deps, params.id)),

  endpoint("PUT /ip-allowlist/rules/:id", {
    operationId: "updateIpRule",
    summary: "Update an IP rule",
    description: "Omitted fields keep their values. While the allowlist is enforced, you cannot " +
      "change, disable or delete the only rule that admits your own address.",
    ...WRITE,
    body: RuleChange,
    returns: Rule,
    failures: { 404: "The rule or the user does not exist", ...LOCKED_OUT },
  }, ({ params, body, caller }) => changeIpRule(deps, caller, params.id, body)),

  endpoint("DELETE /ip-allowlist/rules/:id", {
    operationId: "deleteIpRule",
    summary: "Delete an IP rule",
    ...WRITE,
    returns: Done,
    failures: { ...UNKNOWN, ...LOCKED_OUT },
  }, ({ params, caller }) => removeIpRule(deps, caller, params.id)),

  endpoint("PUT /ip-allowlist/rules/:id/toggle", {
    operationId: "toggleIpRule",
    summary: "Enable or disable an IP rule",
    ...WRITE,
    body: ToggleBody,
    returns: Rule,
    failures: { ...UNKNOWN, ...LOCKED_OUT },
  }, ({ params, body, caller }) => setIpRuleEnabled(deps, caller, params.id, body.enabled)),

  endpoint("GET /ip-allowlist/check", {
    operationId: "checkIpAddress",
    summary: "Check an IP address",
    ...READ,
    query: CheckQuery,
    returns: Check,
    failures: { 404: "The user `user_id` does not exist" },
  }, ({ query, caller }) => checkAddress(deps, caller, { ip: query.ip, userId: query.user_id })),

  endpoint("GET /ip-allowlist/config", {
    operationId: "getIpAllowlistConfig",
    summary: "Get IP allowlist settings",
    ...READ,
    returns: Config,
  }, () => getIpAllowlistConfig(deps)),

  endpoint("PUT /ip-allowlist/config", {
    operationId: "updateIpAllowlistConfig",
    summary: "Update IP allowlist settings",
    description:
      "Omitted settings keep their values. Enforcement applies from the next request to all " +
      "paths except the public ones: probes, status pages and their subscriber links, the " +
      "active brand and the SAML endpoints. If all users are locked out, `longshore " +
      "ip-allowlist off` on the host stops enforcement.",
    ...WRITE,
    body: Config.partial().meta({
      id: "IpAllowlistConfigChanges",
      example: { enforcement_enabled: true, log_denials: true },
    }),
    returns: Config,
    failures: { 409: "Enforcement would lock out your own address" },
  }, ({ body, caller }) => changeIpAllowlistConfig(deps, caller, body)),
];
