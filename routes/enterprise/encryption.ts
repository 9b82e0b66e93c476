/** /encryption: settings of the database encryption, key rotations and their audit. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  changeEncryptionConfig,
  CIPHER_ALGORITHMS,
  describeEncryption,
  getEncryptionConfig,
  PAGE_SIZES,
} from "../../services/enterprise/encryption/settings.ts";
import {
  ENCRYPTION_EVENTS,
  listEncryptionAudit,
  purgeEncryptionAudit,
} from "../../services/enterprise/encryption/audit.ts";
import {
  endKeyRotation,
  listKeyRotations,
  ROTATION_ENDS,
  ROTATION_STATUSES,
  startKeyRotation,
} from "../../services/enterprise/encryption/key_rotations.ts";
import { endpoint } from "../contract/endpoint.ts";
import { paged, pagingQuery, queryInteger, Timestamp } from "../contract/shapes.ts";

const Config = z.object({
  enabled: z.boolean(),
  algorithm: z.enum(CIPHER_ALGORITHMS),
  kdf_iterations: z.int().min(100_000).max(5_000_000).meta({ example: 256_000 }),
  page_size: z.literal(PAGE_SIZES, {
    error: "must be a power of two from 512 to 65536",
  }).meta({ description: "Bytes", example: 4_096 }),
}).meta({ id: "EncryptionConfig" });

const Status = z.object({
  enabled: z.boolean(),
  sqlcipher_available: z.boolean().meta({
    description: "Whether the database was opened by SQLCipher, which can encrypt it",
  }),
  algorithm: z.enum(CIPHER_ALGORITHMS),
  kdf_iterations: z.int(),
  last_rotation: Timestamp.nullable().meta({
    description: "Time of the last completed rotation, or null",
  }),
  pending_rotations: z.int().meta({ description: "0 or 1" }),
}).meta({ id: "EncryptionStatus" });

const Notes = z.string().max(1_000);

const Rotation = z.object({
  id: z.string(),
  status: z.enum(ROTATION_STATUSES),
  notes: z.string(),
  initiated_by: z.string().meta({ description: "Id of the user, or key", example: "key" }),
  started_at: Timestamp,
  completed_at: Timestamp.nullable().meta({
    description: "When it completed or failed; null while it is pending",
  }),
}).meta({ id: "KeyRotation" });

const AuditEntry = z.object({
  id: z.string(),
  event_type: z.enum(ENCRYPTION_EVENTS),
  detail: z.string().meta({ example: "algorithm: aes-256-cbc -> aes-256-gcm" }),
  actor: z.string().meta({ description: "Id of the user, or key", example: "key" }),
  ip: z.string().meta({ example: "192.0.2.7" }),
  created_at: Timestamp,
}).meta({ id: "EncryptionAuditEntry" });

// No default, because the request deletes entries.
const RetentionDays = queryInteger({
  min: 30,
  max: 3_650,
  description: "Number of days for which entries are kept",
});

const READ = { role: "admin", permission: "encryption:read" } as const;
const WRITE = { role: "admin", permission: "encryption:write" } as const;

export const encryptionEndpoints = (deps: Deps) => [
  endpoint("GET /encryption/status", {
    operationId: "getEncryptionStatus",
    summary: "Get encryption status",
    ...READ,
    returns: Status,
  }, () => describeEncryption(deps)),

  endpoint("GET /encryption/config", {
    operationId: "getEncryptionConfig",
    summary: "Get encryption settings",
    ...READ,
    returns: Config,
  }, () => getEncryptionConfig(deps)),

  endpoint("PUT /encryption/config", {
    operationId: "updateEncryptionConfig",
    summary: "Update encryption settings",
    description:
      "Omitted settings keep their values. The settings are records only: the database file " +
      "is encrypted by the program that opens it (SQLCipher).",
    ...WRITE,
    body: Config.partial().meta({
      id: "EncryptionConfigChanges",
      example: { algorithm: "aes-256-gcm", kdf_iterations: 256_000 },
    }),
    returns: Config,
    failures: { 409: "Encryption cannot be enabled: the database was opened without SQLCipher" },
  }, ({ body, caller }) => changeEncryptionConfig(deps, caller, body)),

  endpoint("POST /encryption/rotate-key", {
    operationId: "beginKeyRotation",
    summary: "Record a started key rotation",
    description:
      "The key itself is changed where the database is opened. Record the result with `PUT " +
      "/encryption/rotations/{id}`.",
    ...WRITE,
    body: z.object({ notes: Notes.default("") }).meta({
      id: "NewKeyRotation",
      example: { notes: "Yearly rotation" },
    }),
    returns: z.object({ id: z.string(), status: z.literal("pending"), message: z.string() }).meta({
      id: "StartedKeyRotation",
    }),
    status: 202,
    failures: { 409: "Another rotation is pending" },
  }, ({ body, caller }) => startKeyRotation(deps, caller, body.notes)),

  endpoint("GET /encryption/rotations", {
    operationId: "listKeyRotations",
    summary: "List key rotations",
    description: "Newest first.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ rotations: z.array(Rotation) }).meta({ id: "KeyRotationPage" }),
  }, ({ query }) => listKeyRotations(deps, query)),

  endpoint("PUT /encryption/rotations/:id", {
    operationId: "completeKeyRotation",
    summary: "Record a key rotation's result",
    ...WRITE,
    body: z.object({
      status: z.enum(ROTATION_ENDS),
      notes: Notes.optional().meta({ description: "Default: the notes of the start" }),
    }).meta({
      id: "KeyRotationResult",
      example: { status: "completed", notes: "All hosts have the new key" },
    }),
    returns: Rotation,
    failures: { 404: "The rotation does not exist", 409: "The rotation has already ended" },
  }, ({ params, body, caller }) => endKeyRotation(deps, caller, params.id, body)),

  endpoint("GET /encryption/audit", {
    operationId: "listEncryptionAudit",
    summary: "List encryption audit entries",
    description: "Newest first.",
    ...READ,
    query: z.object({
      event_type: z.enum(ENCRYPTION_EVENTS).optional(),
      ...pagingQuery(50),
    }),
    returns: paged({ entries: z.array(AuditEntry) }).meta({ id: "EncryptionAuditPage" }),
  }, ({ query }) => listEncryptionAudit(deps, query)),

  endpoint("DELETE /encryption/audit/retention", {
    operationId: "deleteOldEncryptionAudit",
    summary: "Delete old encryption audit entries",
    description: "The deletion is recorded as an entry.",
    ...WRITE,
    query: z.object({ days: RetentionDays }),
    returns: z.object({ deleted: z.int(), retention_days: z.int() }).meta({
      id: "EncryptionAuditDeletion",
    }),
  }, ({ query, caller }) => ({
    deleted: purgeEncryptionAudit(deps, caller, query.days),
    retention_days: query.days,
  })),
];
