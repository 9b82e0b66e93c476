/**
 * /ip-allowlist: from which addresses the service may be used.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { CIDR_MAX } from "../../services/enterprise/cidr.ts";
import {
  changeIpAllowlist,
  changeIpRule,
  checkAddress,
  createIpRule,
  describeIpAllowlist,
  getIpRule,
  IP_RULE_SCOPES,
  listIpRules,
  removeIpRule,
  setIpRuleEnabled,
} from "../../services/enterprise/ip_allowlist.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, IdParams, Timestamp } from "../shapes.ts";

const LABEL_MAX = 100;
const DESCRIPTION_MAX = 1_000;

/** An IPv6 address with an interface's name behind it. */
const ADDRESS_MAX = 64;

const Scope = z.enum(IP_RULE_SCOPES).meta({
  description: "`user` admits nobody but the user `scope_id`",
});

const oneLine = z.string().min(1).max(LABEL_MAX)
  .refine((text) => /\S/.test(text), { error: "must not be empty" })
  .refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), {
    error: "must be one line without control characters",
  });

const fields = {
  cidr: z.string().min(1).max(CIDR_MAX).meta({
    description: "A network or an address, IPv4 or IPv6. Mapped IPv4 becomes IPv4; bits behind " +
      "the prefix are refused. `0.0.0.0/0` admits all of IPv4, `::/0` all of IPv6.",
    example: "203.0.113.0/24",
  }),
  label: oneLine.meta({ example: "Office" }),
  description: z.string().max(DESCRIPTION_MAX),
  enabled: z.boolean(),
  scope: Scope,
  scope_id: z.string().min(1).max(255).nullable().meta({
    description: "The id of the user, for the scope `user` only",
  }),
  expires_at: z.iso.datetime({ offset: true }).nullable().meta({
    description: "From then on it admits nobody",
    example: "2026-12-31T23:00:00Z",
  }),
};

const EXAMPLE = {
  cidr: "203.0.113.0/24",
  label: "Office",
  description: "The way out of the office network",
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
}).meta({ example: EXAMPLE });

const RuleChange = z.object(fields).partial().meta({ example: EXAMPLE });

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
});

const ToggleBody = z.object({
  enabled: z.boolean().optional().meta({ description: "The opposite of what it is unless given" }),
}).meta({ example: { enabled: false } });

const Config = z.object({
  enforcement_enabled: z.boolean().meta({ description: "Whether any address is refused at all" }),
  log_denials: z.boolean().meta({
    description: "Whether refused addresses are logged, at most ten lines a minute for each",
  }),
});

const CheckQuery = z.object({
  ip: z.string().min(1).max(ADDRESS_MAX).optional().meta({
    description: "Default: the address of the caller",
    example: "203.0.113.7",
  }),
  user_id: z.string().min(1).max(255).optional().meta({
    description: "Whose rules count besides those for everybody. Default: nobody's; for the " +
      "caller's own address the caller's",
  }),
});

const Check = z.object({
  ip: z.string().meta({ example: "203.0.113.7" }),
  allowed: z.boolean(),
  reason: z.string().meta({ example: 'The rule "Office" (203.0.113.0/24) admits it' }),
  rules_evaluated: z.int().meta({ description: "Rules that are on and not over" }),
});

const UNKNOWN = { 404: "There is no such rule" };
const UNKNOWN_USER = { 404: "There is no user with the id `scope_id`" };
const LOCKED_OUT = { 409: "It would lock out the caller's own address" };

const read = { role: "admin", permission: "ip_allowlist:read" } as const;
const write = { role: "admin", permission: "ip_allowlist:write" } as const;

export const ipAllowlistEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/ip-allowlist/rules",
    summary: "List IP rules",
    description: "Newest first.",
    ...read,
    returns: z.object({ rules: z.array(Rule) }),
  }, () => listIpRules(deps)),

  endpoint({
    method: "post",
    path: "/ip-allowlist/rules",
    summary: "Create an IP rule",
    ...write,
    body: NewRule,
    returns: Rule,
    status: 201,
    failures: { ...UNKNOWN_USER, 409: "There are 1000 rules already" },
  }, ({ body }) => createIpRule(deps, body)),

  endpoint({
    method: "get",
    path: "/ip-allowlist/rules/:id",
    summary: "Show an IP rule",
    ...read,
    params: IdParams,
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params }) => getIpRule(deps, params.id)),

  endpoint({
    method: "put",
    path: "/ip-allowlist/rules/:id",
    summary: "Change an IP rule",
    description: "What is left out stays as it is.",
    ...write,
    params: IdParams,
    body: RuleChange,
    returns: Rule,
    failures: { 404: "There is no such rule, or no such user", ...LOCKED_OUT },
  }, ({ params, body, caller }) => changeIpRule(deps, caller, params.id, body)),

  endpoint({
    method: "delete",
    path: "/ip-allowlist/rules/:id",
    summary: "Delete an IP rule",
    ...write,
    params: IdParams,
    returns: Done,
    failures: { ...UNKNOWN, ...LOCKED_OUT },
  }, ({ params, caller }) => {
    removeIpRule(deps, caller, params.id);
    return done;
  }),

  endpoint({
    method: "put",
    path: "/ip-allowlist/rules/:id/toggle",
    summary: "Turn an IP rule on or off",
    ...write,
    params: IdParams,
    body: ToggleBody,
    returns: Rule,
    failures: { ...UNKNOWN, ...LOCKED_OUT },
  }, ({ params, body, caller }) => setIpRuleEnabled(deps, caller, params.id, body.enabled)),

  endpoint({
    method: "get",
    path: "/ip-allowlist/check",
    summary: "Check an address against the rules",
    ...read,
    query: CheckQuery,
    returns: Check,
    failures: { 404: "There is no user with the id `user_id`" },
  }, ({ query, caller }) => checkAddress(deps, caller, { ip: query.ip, userId: query.user_id })),

  endpoint({
    method: "get",
    path: "/ip-allowlist/config",
    summary: "Show whether the IP allowlist is enforced",
    ...read,
    returns: Config,
  }, () => describeIpAllowlist(deps)),

  endpoint({
    method: "put",
    path: "/ip-allowlist/config",
    summary: "Turn enforcement of the IP allowlist on or off",
    description: "Holds at the very next request, for every path but those that are for " +
      "everybody: probes, status pages and what belongs to them, the active brand, and the " +
      "SAML endpoints. What is left out stays as it is. Whoever is locked out after all has the " +
      "command `longshore ip-allowlist off` on the host.",
    ...write,
    body: Config.partial().meta({ example: { enforcement_enabled: true, log_denials: true } }),
    returns: Config,
    failures: { 409: "It would lock out the address of whoever turns it on" },
  }, ({ body, caller }) => changeIpAllowlist(deps, caller, body)),
];
