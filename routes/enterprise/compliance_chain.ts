/**
 * /compliance: configuration, statistics, verification and retention of the compliance log.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { verifyChain } from "../../services/enterprise/compliance_chain.ts";
import {
  changeComplianceConfig,
  EXPORT_FORMATS,
  getComplianceConfig,
  HASH_ALGORITHMS,
  RETENTION_DAYS_MAX,
} from "../../services/enterprise/compliance_config.ts";
import { complianceStats } from "../../services/enterprise/compliance_logs.ts";
import { sweepCompliance } from "../../services/enterprise/compliance_retention.ts";
import { endpoint } from "../endpoint.ts";
import { From } from "../time_range.ts";
import { StoredTime } from "./compliance_shapes.ts";

const Config = z.object({
  enabled: z.boolean().meta({ description: "Whether anything is written down" }),
  retention_days: z.int().min(1).max(RETENTION_DAYS_MAX).meta({
    description: "Older entries are deleted once a day",
  }),
  hash_algorithm: z.enum(HASH_ALGORITHMS),
  log_api_reads: z.boolean().meta({ description: "Whether reads are written down as well" }),
  export_format: z.enum(EXPORT_FORMATS).meta({ description: "Of an export that does not say" }),
});

const ConfigBody = Config.partial().meta({
  example: {
    enabled: true,
    retention_days: 365,
    hash_algorithm: "sha256",
    log_api_reads: false,
    export_format: "json",
  },
});

const Counts = z.record(z.string(), z.int());

const Stats = z.object({
  total_entries: z.int(),
  last_24h: z.int(),
  oldest_entry: StoredTime.nullable(),
  newest_entry: StoredTime.nullable(),
  by_category: Counts.meta({ example: { authentication: 12, container: 30 } }),
  by_severity: Counts.meta({ example: { info: 40, warning: 2 } }),
  by_outcome: Counts.meta({ example: { success: 40, failure: 2 } }),
});

const VerificationBody = z.object({
  from: From,
  limit: z.int().min(1).optional().meta({ description: "Most entries to check. Default: all" }),
}).meta({ example: { from: "2026-01-01", limit: 100_000 } });

const Verification = z.object({
  verified: z.boolean(),
  entries_checked: z.int(),
  broken_at_id: z.string().nullable(),
  reason: z.string().nullable(),
}).meta({
  example: { verified: true, entries_checked: 1_000, broken_at_id: null, reason: null },
});

const VERIFY = `Checks every entry against its own hash and that of the entry before it, in their \
order, and the end of the log against its head. The first entry has to follow 64 zeros, or the anchor \
of a retention that an entry of the log announces.

Broken is the first entry that does not fit; where the end is cut off, the last one that is there \
(null where none is). Where neither \`from\` nor \`limit\` is given, the counts that the statistics \
are made of are compared with the number of entries as well (broken at null). \`reason\` names the expected and the actual hash. It takes some 10 seconds for \
a million entries, holds up nobody else, and is itself written down, with the hash of the head. \
Whoever can write to the database could write a whole new log: compare the head's hash with one that \
was kept elsewhere (the daily line of the log, an export, \`longshore compliance verify\`).`;

const RETENTION =
  `Deletes the entries that are older than \`retention_days\`, up to the first that \
is not, as the service does by itself once a day. An entry announces it, and an anchor takes down the \
hash of the last one deleted, so that the rest still verifies. The entries are verified first, \
the beginning and their places too; the first fault is written down (\`compliance.chain_broken\`) \
before they go, those after it are not.`;

export const complianceChainEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/compliance/config",
    summary: "Show what the compliance log takes down",
    role: "admin",
    permission: "compliance:read",
    returns: Config,
  }, () => getComplianceConfig(deps)),

  endpoint({
    method: "put",
    path: "/compliance/config",
    summary: "Change what the compliance log takes down",
    description: "What is missing stays as it is. The change is written down, also the one that " +
      "turns the log off; while it is off, nothing else is, but what a retention deletes.",
    role: "admin",
    permission: "compliance:write",
    unrecorded: true,
    body: ConfigBody,
    returns: Config,
  }, ({ body, caller }) => changeComplianceConfig(deps, caller, body)),

  endpoint({
    method: "get",
    path: "/compliance/stats",
    summary: "Count the compliance log",
    role: "admin",
    permission: "compliance:read",
    returns: Stats,
  }, () => complianceStats(deps)),

  endpoint({
    method: "post",
    path: "/compliance/verify-chain",
    summary: "Verify the compliance log",
    description: VERIFY,
    role: "admin",
    permission: "compliance:read",
    unrecorded: true,
    body: VerificationBody,
    returns: Verification,
    failures: { 429: "Too many verifications are under way" },
  }, ({ body, caller }) => verifyChain(deps, caller, body)),

  endpoint({
    method: "delete",
    path: "/compliance/retention",
    summary: "Delete old compliance log entries",
    description: RETENTION,
    role: "admin",
    permission: "compliance:write",
    returns: z.object({
      deleted: z.int(),
      retention_days: z.int(),
      chain_anchor_recorded: z.boolean(),
    }),
  }, ({ caller }) => sweepCompliance(deps, { caller })),
];
