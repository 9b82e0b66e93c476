/**
 * /encryption: how the database file is to be encrypted, and the rotations of its key.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  changeEncryptionSettings,
  CIPHER_ALGORITHMS,
  describeEncryption,
  getEncryptionSettings,
  PAGE_SIZES,
} from "../../services/enterprise/encryption.ts";
import {
  ENCRYPTION_EVENTS,
  listEncryptionAudit,
  purgeEncryptionAudit,
} from "../../services/enterprise/encryption_audit.ts";
import {
  endKeyRotation,
  listKeyRotations,
  ROTATION_ENDS,
  ROTATION_STATUSES,
  startKeyRotation,
} from "../../services/enterprise/key_rotations.ts";
import { endpoint } from "../endpoint.ts";
import { IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";

const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(", ")}` });

const Settings = z.object({
  enabled: z.boolean(),
  algorithm: oneOf(CIPHER_ALGORITHMS),
  kdf_iterations: z.int().min(100_000).max(5_000_000).meta({ example: 256_000 }),
  page_size: z.literal(PAGE_SIZES, {
    error: "must be a power of two from 512 to 65536",
  }).meta({ description: "Bytes", example: 4_096 }),
});

const Status = z.object({
  enabled: z.boolean(),
  sqlcipher_available: z.boolean().meta({
    description: "Whether the database is opened by SQLCipher, as it says itself",
  }),
  algorithm: z.enum(CIPHER_ALGORITHMS),
  kdf_iterations: z.int(),
  last_rotation: Timestamp.nullable().meta({
    description: "When a rotation was last completed; null when none ever was",
  }),
  pending_rotations: z.int().meta({ description: "0 or 1" }),
});

const Notes = z.string().max(1_000);

const Rotation = z.object({
  id: z.string(),
  status: z.enum(ROTATION_STATUSES),
  notes: z.string(),
  initiated_by: z.string().meta({ description: "Id of the user, or key", example: "key" }),
  started_at: Timestamp,
  completed_at: Timestamp.nullable().meta({ description: "When it ended, however that was" }),
});

const AuditEntry = z.object({
  id: z.string(),
  event_type: z.enum(ENCRYPTION_EVENTS),
  detail: z.string().meta({ example: "algorithm: aes-256-cbc -> aes-256-gcm" }),
  actor: z.string().meta({ description: "Id of the user, or key", example: "key" }),
  ip: z.string().meta({ example: "192.0.2.7" }),
  created_at: Timestamp,
});

/** Unlike other numbers of a query it has no default: what is deleted has to be said. */
const RetentionDays = z.preprocess(
  (text) => typeof text === "string" && /^-?\d{1,15}$/.test(text) ? Number(text) : text,
  z.int({ error: "must be a whole number of days" })
    .min(30, { error: "must be at least 30" })
    .max(3_650, { error: "must be at most 3650" }),
).meta({ description: "Entries of so many days, 30 to 3 650, are kept" });

export const encryptionEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/encryption/status",
    summary: "Show whether the database is encrypted",
    role: "admin",
    permission: "encryption:read",
    returns: Status,
  }, () => describeEncryption(deps)),

  endpoint({
    method: "get",
    path: "/encryption/config",
    summary: "Show how the database is to be encrypted",
    role: "admin",
    permission: "encryption:read",
    returns: Settings,
  }, () => getEncryptionSettings(deps)),

  endpoint({
    method: "put",
    path: "/encryption/config",
    summary: "Change how the database is to be encrypted",
    description: "What is left out stays as it is. These are settings and records only: the file " +
      "itself is encrypted by the layer that opens it.",
    role: "admin",
    permission: "encryption:write",
    body: Settings.partial().meta({
      example: { algorithm: "aes-256-gcm", kdf_iterations: 256_000 },
    }),
    returns: Settings,
    failures: { 409: "It cannot be turned on: the database is opened without SQLCipher" },
  }, ({ body, caller }) => changeEncryptionSettings(deps, caller, body)),

  endpoint({
    method: "post",
    path: "/encryption/rotate-key",
    summary: "Record that the key is being rotated",
    description: "How it went is told with `PUT /encryption/rotations/:id`.",
    role: "admin",
    permission: "encryption:write",
    body: z.object({ notes: Notes.default("") }).meta({ example: { notes: "Yearly rotation" } }),
    returns: z.object({ id: z.string(), status: z.literal("pending"), message: z.string() }),
    status: 202,
    failures: { 409: "Another rotation is pending" },
  }, ({ body, caller }) => startKeyRotation(deps, caller, body.notes)),

  endpoint({
    method: "get",
    path: "/encryption/rotations",
    summary: "List rotations of the key",
    description: "Newest first.",
    role: "admin",
    permission: "encryption:read",
    query: z.object(pagingQuery(50)),
    returns: paged({ rotations: z.array(Rotation) }),
  }, ({ query }) => listKeyRotations(deps, query)),

  endpoint({
    method: "put",
    path: "/encryption/rotations/:id",
    summary: "Record how a rotation ended",
    role: "admin",
    permission: "encryption:write",
    params: IdParams,
    body: z.object({
      status: oneOf(ROTATION_ENDS),
      notes: Notes.optional().meta({ description: "Take the place of those it was begun with" }),
    }).meta({ example: { status: "completed", notes: "All hosts have the new key" } }),
    returns: Rotation,
    failures: { 404: "There is no such rotation", 409: "It has ended already" },
  }, ({ params, body, caller }) => endKeyRotation(deps, caller, params.id, body)),

  endpoint({
    method: "get",
    path: "/encryption/audit",
    summary: "List who changed what about encryption",
    description: "Newest first.",
    role: "admin",
    permission: "encryption:read",
    query: z.object({
      event_type: oneOf(ENCRYPTION_EVENTS).optional(),
      ...pagingQuery(50),
    }),
    returns: paged({ entries: z.array(AuditEntry) }),
  }, ({ query }) => listEncryptionAudit(deps, query)),

  endpoint({
    method: "delete",
    path: "/encryption/audit/retention",
    summary: "Delete old entries about encryption",
    description: "That this was done is an entry itself.",
    role: "admin",
    permission: "encryption:write",
    query: z.object({ days: RetentionDays }),
    returns: z.object({ deleted: z.int(), retention_days: z.int() }),
  }, ({ query, caller }) => ({
    deleted: purgeEncryptionAudit(deps, caller, query.days),
    retention_days: query.days,
  })),
];
