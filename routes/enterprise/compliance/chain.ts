/**
 * /compliance: configuration, statistics, verification and retention of the compliance log.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { verifyChain } from "../../../services/enterprise/compliance/chain.ts";
import {
  changeComplianceConfig,
  EXPORT_FORMATS,
  getComplianceConfig,
  HASH_ALGORITHMS,
  RETENTION_DAYS_MAX,
} from "../../../services/enterprise/compliance/config.ts";
import { complianceStats } from "../../../services/enterprise/compliance/logs.ts";
import { sweepCompliance } from "../../../services/enterprise/compliance/retention.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { From } from "../../contract/time_range.ts";
import { Hash, HASH_EXAMPLE, StoredTime } from "./shapes.ts";

const Config = z.object({
  enabled: z.boolean().meta({ description: "Whether entries are recorded" }),
  retention_days: z.int().min(1).max(RETENTION_DAYS_MAX).meta({
    description: "Older entries are deleted once a day",
  }),
  hash_algorithm: z.enum(HASH_ALGORITHMS),
  log_api_reads: z.boolean().meta({ description: "Whether reads are recorded as well" }),
  export_format: z.enum(EXPORT_FORMATS).meta({ description: "Default format of exports" }),
}).meta({ id: "ComplianceConfig" });

const ConfigBody = Config.partial().meta({
  id: "ComplianceConfigChanges",
  example: {
    enabled: true,
    retention_days: 365,
    hash_algorithm: "sha256",
    log_api_reads: false,
    export_format: "json",
  },
});

const HEAD = "The hash of the last entry of the whole log; keep a copy elsewhere to detect a " +
  "rewritten log";

const Counts = z.record(z.string(), z.int());

const Stats = z.object({
  total_entries: z.int(),
  last_24h: z.int(),
  oldest_entry: StoredTime.nullable(),
  newest_entry: StoredTime.nullable(),
  by_category: Counts.meta({ example: { authentication: 12, container: 30 } }),
  by_severity: Counts.meta({ example: { info: 40, warning: 2 } }),
  by_outcome: Counts.meta({ example: { success: 40, failure: 2 } }),
  head_hash: Hash.nullable().meta({ description: HEAD }),
}).meta({ id: "ComplianceStats" });

const VerificationBody = z.object({
  from: From,
  limit: z.int().min(1).optional().meta({
    description: "Maximum number of entries to check. Default: all",
  }),
}).meta({ id: "ChainVerificationOptions", example: { from: "2026-01-01", limit: 100_000 } });

const Verification = z.object({
  verified: z.boolean(),
  entries_checked: z.int(),
  broken_at_id: z.string().nullable(),
  reason: z.string().nullable(),
  head_hash: Hash.nullable().meta({ description: HEAD }),
}).meta({
  id: "ChainVerification",
  example: {
    verified: true,
    entries_checked: 1_000,
    broken_at_id: null,
    reason: null,
    head_hash: HASH_EXAMPLE,
  },
});

const VERIFY =
  `Verifies each entry against its own hash and the hash of the previous entry, in order, \
and the end of the log against its head. The first entry must follow 64 zeros, or the anchor of a \
retention run that an entry of the log records.

\`broken_at_id\` is the first entry that does not match; if the end is missing, it is the last entry \
present (null if there is none). Without \`from\` and \`limit\`, the counts used for the statistics are \
compared with the number of entries as well (\`broken_at_id\` is null for a mismatch). \`reason\` \
contains the expected and the actual hash. One million entries take about 10 seconds; other requests \
are not delayed. The verification itself is recorded, with the hash of the head. Anyone who can write \
to the database could write a complete new log: compare the hash of the head with a copy kept \
elsewhere (the daily line of the log, an export, \`longshore compliance verify\`).`;

const RETENTION =
  `Deletes the entries older than \`retention_days\`, up to the first entry that is \
newer, as happens automatically once a day. The deletion is recorded as an entry, and an anchor stores \
the hash of the last deleted entry, so that the remaining log still verifies. The entries are verified \
before they are deleted; only the first mismatch is recorded (\`compliance.chain_broken\`).`;

const READ = { role: "admin", permission: "compliance:read" } as const;
const WRITE = { role: "admin", permission: "compliance:write" } as const;

export const complianceChainEndpoints = (deps: Deps) => [
  endpoint("GET /compliance/config", {
    operationId: "getComplianceConfig",
    summary: "Get compliance log settings",
    ...READ,
    returns: Config,
  }, () => getComplianceConfig(deps)),

  endpoint("PUT /compliance/config", {
    operationId: "updateComplianceConfig",
    summary: "Update compliance log settings",
    description:
      "Omitted settings keep their values. The change is recorded, including the one that " +
      "disables the log. While the log is disabled, only retention deletions are recorded.",
    ...WRITE,
    unrecorded: true,
    body: ConfigBody,
    returns: Config,
  }, ({ body, caller }) => changeComplianceConfig(deps, caller, body)),

  endpoint("GET /compliance/stats", {
    operationId: "getComplianceStats",
    summary: "Get compliance log statistics",
    ...READ,
    returns: Stats,
  }, () => complianceStats(deps)),

  endpoint("POST /compliance/verify-chain", {
    operationId: "verifyComplianceChain",
    summary: "Verify the compliance log",
    description: VERIFY,
    ...READ,
    unrecorded: true,
    body: VerificationBody,
    returns: Verification,
    failures: { 429: "Too many verifications are in progress" },
  }, ({ body, caller }) => verifyChain(deps, caller, body)),

  endpoint("DELETE /compliance/retention", {
    operationId: "deleteOldComplianceLogs",
    summary: "Delete old compliance log entries",
    description: RETENTION,
    ...WRITE,
    returns: z.object({
      deleted: z.int(),
      retention_days: z.int(),
      chain_anchor_recorded: z.boolean(),
    }).meta({ id: "ComplianceDeletion" }),
  }, ({ caller }) => sweepCompliance(deps, { caller })),
];
