/** /compliance/logs and /compliance/export: the entries of the compliance log. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { EXPORT_FORMATS } from "../../../services/enterprise/compliance/config.ts";
import { EXPORT_MAX, exportEntries } from "../../../services/enterprise/compliance/export.ts";
import {
  createEntry,
  getEntry,
  listEntries,
} from "../../../services/enterprise/compliance/logs.ts";
import {
  METADATA_BYTES_MAX,
  METADATA_DEPTH_MAX,
  metadataFault,
} from "../../../services/enterprise/compliance/entry_metadata.ts";
import { yieldToEventLoop } from "../../../services/waiting.ts";
import { attachment } from "../../contract/attachment.ts";
import { endpoint, rawEndpoint } from "../../contract/endpoint.ts";
import { paged, pagingQuery } from "../../contract/shapes.ts";
import { From, inOrder, To } from "../../contract/time_range.ts";
import { ActorType, Category, Entry, EntryOutcome, Severity } from "./shapes.ts";

const NAME_MAX = 200;
const TARGET_MAX = 300;
const DETAIL_MAX = 2_000;

const EntriesQuery = z.object({
  category: Category.optional(),
  severity: Severity.optional(),
  actor_id: z.string().min(1).max(NAME_MAX).optional(),
  action: z.string().min(1).max(NAME_MAX).optional().meta({ example: "containers.stop" }),
  outcome: EntryOutcome.optional(),
  q: z.string().min(1).max(NAME_MAX).optional().meta({
    description: "Text that the actor, the action, the resource or the detail contains; the case " +
      "of ASCII letters is ignored",
    example: "web",
  }),
  from: From,
  to: To,
  ...pagingQuery(100),
}).refine(inOrder.check, inOrder.fault);

// Not a record, which would silently drop a member `__proto__`.
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
    description: "The actor. Default: the caller, who is always in `recorded_by`",
  }),
  actor_type: ActorType.optional().meta({
    description: "Default: the type of the caller, otherwise `user`",
  }),
  action: z.string().min(1).max(NAME_MAX).meta({ example: "backup.restored" }),
  resource_type: z.string().min(1).max(NAME_MAX).nullable().default(null),
  resource_id: z.string().min(1).max(TARGET_MAX).nullable().default(null),
  detail: z.string().max(DETAIL_MAX).nullable().default(null),
  outcome: EntryOutcome.default("success"),
  metadata: Metadata.nullable().default(null).meta({
    description:
      `At most ${METADATA_BYTES_MAX} bytes of JSON, ${METADATA_DEPTH_MAX} levels deep; ` +
      "numbers beyond 2^53 - 1 are refused, because they lose digits",
  }),
}).meta({
  id: "NewComplianceEntry",
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

const CHAIN =
  `Each entry contains the hash of the previous one (\`previous_hash\`; for the first entry \
\`sha256:\` and 64 zeros) and its own: \`entry_hash\` is \`sha256:\` and the hexadecimal SHA-256 of \
the canonical JSON (RFC 8785) of all other fields as returned here, including nulls, without \
\`chain_valid\`.`;

const WHAT = `The service records every write, login and denial of every edition, reads if \
\`log_api_reads\` is on, remediations and failed schedules. Of unauthenticated requests, 10 per minute \
and address are listed (600 per minute in total, 20,000 per day); the others are counted in one entry, \
\`requests.unlisted\`. Of bodies, only the command of an exec, the action of a bulk request and the options of a prune are \
recorded; tokens and stored secrets never are.`;

const EXPORT = `The newest ${EXPORT_MAX} entries of the time range, oldest first, as a file. \
\`X-Total-Count\` is the number of entries in the range, \`X-Exported-Count\` the number in the file; \
for earlier entries, repeat the request with an earlier \`to\`.

JSON is \`{"head_hash", "from", "to", "exported", "logs": [...]}\`: the hash of each entry can be \
recomputed from it, and \`head_hash\` is the hash of the last entry of the whole log at that time. \
\`longshore compliance verify FILE\` verifies both formats. CSV (RFC 4180, UTF-8, all \
cells quoted) begins with a line of column names; a cell that a spreadsheet would execute begins with \
an apostrophe. The export itself is recorded.`;

const ComplianceExport = z.object({
  head_hash: Entry.shape.entry_hash.nullable(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  exported: z.int(),
  logs: z.array(Entry),
}).meta({ id: "ComplianceExport" });

const READ = { role: "admin", permission: "compliance:read" } as const;
const WRITE = { role: "admin", permission: "compliance:write" } as const;

export const complianceLogEndpoints = (deps: Deps) => [
  endpoint("GET /compliance/logs", {
    operationId: "listComplianceLogs",
    summary: "List compliance log entries",
    description: `Newest first. ${WHAT}`,
    ...READ,
    query: EntriesQuery,
    returns: paged({ logs: z.array(Entry) }).meta({ id: "ComplianceEntryPage" }),
  }, ({ query }) => listEntries(deps, query)),

  endpoint("GET /compliance/logs/:id", {
    operationId: "getComplianceLog",
    summary: "Get a compliance log entry",
    description:
      `${CHAIN}\n\n\`chain_valid\` says whether the entry is unchanged and still between the \
entries before and after it.`,
    ...READ,
    returns: Entry.extend({ chain_valid: z.boolean() }).meta({ id: "ComplianceEntryDetail" }),
    failures: { 404: "The entry does not exist" },
  }, ({ params }) => getEntry(deps, params.id)),

  endpoint("POST /compliance/logs", {
    operationId: "createComplianceLog",
    summary: "Create a compliance log entry",
    description: "For events outside this service. `recorded_by` identifies the author and " +
      "distinguishes these entries from those that the service records itself.",
    ...WRITE,
    unrecorded: true,
    unaudited: true,
    body: NewEntry,
    returns: Entry,
    status: 201,
    failures: { 409: "The compliance log is disabled" },
  }, ({ body, caller }) => createEntry(deps, caller, body)),

  rawEndpoint("GET /compliance/export", {
    operationId: "exportComplianceLog",
    summary: "Export the compliance log",
    description: EXPORT,
    ...READ,
    unrecorded: true,
    actsOnGet: true,
    query: ExportQuery,
    returns: ComplianceExport,
    produces: "application/json",
    alternatives: { "text/csv": z.string() },
    replyHeaders: {
      "Content-Disposition": "File name of the export",
      "X-Total-Count": "Number of entries in the time range",
      "X-Exported-Count": "Number of entries in the file",
    },
  }, async ({ query, caller }) => {
    const { format, total, exported, pieces } = await exportEntries(deps, caller, query);
    const name = `compliance-log-${deps.now().toISOString().slice(0, 19).replaceAll(":", "-")}`;
    return new Response(streamOf(pieces), {
      headers: {
        "content-type": format === "csv"
          ? "text/csv; charset=utf-8; header=present"
          : "application/json; charset=utf-8",
        "content-disposition": attachment(`${name}Z.${format}`),
        "x-total-count": String(total),
        "x-exported-count": String(exported),
      },
    });
  }),
];

/** Creates each piece when the client is ready for it, without blocking other requests. */
function streamOf(pieces: Iterator<string>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      await yieldToEventLoop();
      const { done, value } = pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
}
