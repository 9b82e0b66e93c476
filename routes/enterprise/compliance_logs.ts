/**
 * /compliance/logs and /compliance/export: the entries of the compliance log.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { EXPORT_FORMATS } from "../../services/enterprise/compliance_config.ts";
import { EXPORT_MAX, exportEntries } from "../../services/enterprise/compliance_export.ts";
import { createEntry, getEntry, listEntries } from "../../services/enterprise/compliance_logs.ts";
import {
  METADATA_BYTES_MAX,
  METADATA_DEPTH_MAX,
  metadataFault,
} from "../../services/enterprise/entry_metadata.ts";
import { turn } from "../../services/enterprise/turn.ts";
import { endpoint, rawEndpoint } from "../endpoint.ts";
import { IdParams, paged, pagingQuery } from "../shapes.ts";
import { From, inOrder, To } from "../time_range.ts";
import { ActorType, Category, Entry, EntryOutcome, Severity } from "./compliance_shapes.ts";

const NAME_MAX = 200;
const TARGET_MAX = 300;
const DETAIL_MAX = 2_000;

const EntriesQuery = z.object({
  category: Category.optional(),
  severity: Severity.optional(),
  actor_id: z.string().min(1).max(NAME_MAX).optional(),
  action: z.string().min(1).max(NAME_MAX).optional().meta({ example: "containers.stop" }),
  outcome: EntryOutcome.optional(),
  from: From,
  to: To,
  ...pagingQuery(100),
}).refine(inOrder.check, inOrder.fault);

// Looked at as it was sent: a record leaves a member `__proto__` out without a word.
const Metadata = z.unknown()
  .superRefine((metadata, context) => {
    const message = metadataFault(metadata);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .meta({ type: "object", additionalProperties: {} })
  .transform((metadata) => metadata as Record<string, unknown>);

const NewEntry = z.object({
  category: Category,
  severity: Severity.default("info"),
  actor_id: z.string().min(1).max(NAME_MAX).optional().meta({
    description: "Who did it. Default: the caller, who is in `recorded_by` in any case",
  }),
  actor_type: ActorType.optional().meta({
    description: "Default: that of the caller, else `user`",
  }),
  action: z.string().min(1).max(NAME_MAX).meta({ example: "backup.restored" }),
  resource_type: z.string().min(1).max(NAME_MAX).nullable().default(null),
  resource_id: z.string().min(1).max(TARGET_MAX).nullable().default(null),
  detail: z.string().max(DETAIL_MAX).nullable().default(null),
  outcome: EntryOutcome.default("success"),
  metadata: Metadata.nullable().default(null).meta({
    description:
      `At most ${METADATA_BYTES_MAX} bytes of JSON, ${METADATA_DEPTH_MAX} levels deep; ` +
      "numbers beyond 2^53 - 1 are refused, for they lose digits",
  }),
}).meta({
  example: {
    category: "data",
    severity: "info",
    action: "backup.restored",
    resource_type: "database",
    resource_id: "orders",
    detail: "Restored from the backup of 2026-01-30",
    outcome: "success",
    metadata: { ticket: "OPS-4711" },
  },
});

const ExportQuery = z.object({
  format: z.enum(EXPORT_FORMATS).optional().meta({ description: "Default: `export_format`" }),
  from: From,
  to: To,
}).refine(inOrder.check, inOrder.fault);

const CHAIN = `Every entry carries the hash of the one before it (\`previous_hash\`; the first \
one \`sha256:\` and 64 zeros) and its own: \`entry_hash\` is \`sha256:\` and the SHA-256, in hex, of \
the canonical JSON (RFC 8785) of all its other fields as they are shown here, nulls included, \
without \`chain_valid\`.`;

const WHAT = `Entries write themselves for every write, login and denial of every edition, and for \
reads where \`log_api_reads\` is on; and for remediations and failed schedules. Of what strangers \
try, ten entries a minute of one address are listed (600 of all, 20 000 a day); the rest is counted \
in one entry, \`requests.unlisted\`. No body, token or secret is ever written down.`;

const EXPORT = `The newest ${EXPORT_MAX} entries of the time, oldest first, as a file. \
\`X-Total-Count\` says how many the time has, \`X-Exported-Count\` how many are in the file; for \
earlier ones, \`to\` goes back.

JSON is \`{"head_hash", "logs": [...]}\`: from each entry its hash can be computed again, and \
\`head_hash\` is that of the last entry of the whole log at that time. CSV (RFC 4180, UTF-8, all \
cells quoted) has a line of column names; a cell that a spreadsheet would run begins with an \
apostrophe. The export is itself written down.`;

const EXPORT_EXAMPLE = `{"head_hash":"sha256:9b2f...","logs":[
{"id":"3f1c...","category":"container","action":"containers.stop",...}
]}
`;

export const complianceLogEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/compliance/logs",
    summary: "List compliance log entries",
    description: `Newest first. ${WHAT}`,
    role: "admin",
    permission: "compliance:read",
    query: EntriesQuery,
    returns: paged({ logs: z.array(Entry) }),
  }, ({ query }) => listEntries(deps, query)),

  endpoint({
    method: "get",
    path: "/compliance/logs/:id",
    summary: "Show a compliance log entry",
    description:
      `${CHAIN}\n\n\`chain_valid\` tells whether the entry is what was written and still \
stands between the entries before and after it.`,
    role: "admin",
    permission: "compliance:read",
    params: IdParams,
    returns: Entry.extend({ chain_valid: z.boolean() }),
    failures: { 404: "No such entry" },
  }, ({ params }) => getEntry(deps, params.id)),

  endpoint({
    method: "post",
    path: "/compliance/logs",
    summary: "Write a compliance log entry",
    description: "For what happens outside of this service. `recorded_by` says who wrote it, so " +
      "that it can be told from what the service saw itself.",
    role: "admin",
    permission: "compliance:write",
    unrecorded: true,
    unaudited: true,
    body: NewEntry,
    returns: Entry,
    status: 201,
    failures: { 409: "The compliance log is off" },
  }, ({ body, caller }) => createEntry(deps, caller, body)),

  rawEndpoint({
    method: "get",
    path: "/compliance/export",
    summary: "Export the compliance log",
    description: EXPORT,
    role: "admin",
    permission: "compliance:read",
    unrecorded: true,
    actsOnGet: true,
    query: ExportQuery,
    returns: z.string().meta({ example: EXPORT_EXAMPLE }),
    produces: "application/json",
  }, async ({ query, caller }) => {
    const { format, total, exported, pieces } = await exportEntries(deps, caller, query);
    const name = `compliance-log-${deps.now().toISOString().slice(0, 19).replaceAll(":", "-")}`;
    return new Response(streamOf(pieces), {
      headers: {
        "content-type": format === "csv"
          ? "text/csv; charset=utf-8; header=present"
          : "application/json; charset=utf-8",
        "content-disposition": `attachment; filename="${name}Z.${format}"`,
        "x-total-count": String(total),
        "x-exported-count": String(exported),
      },
    });
  }),
];

/** Each piece is made when the client has room for it, and everybody else had their turn. */
function streamOf(pieces: Iterator<string>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      await turn();
      const { done, value } = pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
}
