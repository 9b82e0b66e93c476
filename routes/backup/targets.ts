/** /api/backup/targets: repositories that snapshots are stored in. @module */

import * as z from "zod";
import type { Caller } from "../../services/access/caller.ts";
import { LOCATION_MAX } from "../../services/backup/targets/location.ts";
import {
  changeTarget,
  createTarget,
  getTarget,
  listTargets,
  removeTarget,
  type Target as View,
} from "../../services/backup/targets/targets.ts";
import { testTarget } from "../../services/backup/targets/test.ts";
import type { Deps } from "../../services/deps.ts";
import { CA_CERTIFICATE_MAX } from "../../services/outbound/certificates.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Name, Timestamp } from "../contract/shapes.ts";

const SECRET_MAX = 1_000;

/** One line, because programs read passwords from lines. */
const secret = (description: string) =>
  z.string().min(1).max(SECRET_MAX).regex(/^\P{Cc}*$/u, {
    error: "must not have control characters",
  }).nullable().meta({
    description: `${description}. Stored encrypted and never returned; \`********\` in an update ` +
      "keeps it",
  });

const fields = {
  name: Name,
  location: z.string().max(LOCATION_MAX).meta({
    description: "A directory below `DATA_DIR/snapshots` (the default) or one of `BACKUP_DIRS`, " +
      "`s3:https://host/bucket/path`, or `rest:https://host/path`",
  }),
  password: secret(
    "Password of the repository. One that exists is joined with it; for a new one, null makes a " +
      "password",
  ),
  accessKeyId: z.string().regex(/^[\x21-\x7e]{1,200}$/, { error: "must be printable ASCII" })
    .nullable().meta({ description: "For `s3:`" }),
  secretAccessKey: secret("For `s3:`"),
  region: z.string().regex(/^[a-z0-9-]{1,40}$/, { error: "must be a region, e.g. eu-central-1" })
    .nullable().meta({ description: "For `s3:`; null means `us-east-1`" }),
  // RFC 7617, 2: a colon would end the user name.
  username: z.string().regex(/^[^:\p{Cc}]{1,255}$/u, {
    error: "must have 1 to 255 characters without colons and control characters",
  }).nullable().meta({ description: "For `rest:`" }),
  userPassword: secret("For `rest:`"),
  caCertificate: z.string().min(1).max(CA_CERTIFICATE_MAX).nullable().meta({
    description: "Certificates (PEM) of the server's authority, trusted in addition to the " +
      "public ones",
  }),
  default: z.boolean().meta({
    description: "Whether snapshots go here unless a target is named. At most one target is the " +
      "default; the first one becomes it",
  }),
};

const NewTarget = z.object({
  name: fields.name,
  location: fields.location.default(""),
  password: fields.password.default(null),
  accessKeyId: fields.accessKeyId.default(null),
  secretAccessKey: fields.secretAccessKey.default(null),
  region: fields.region.default(null),
  username: fields.username.default(null),
  userPassword: fields.userPassword.default(null),
  caCertificate: fields.caCertificate.default(null),
  default: fields.default.optional(),
}).meta({
  id: "NewBackupTarget",
  // Documented examples are also sent by tests, which reach no other server.
  example: { name: "Local" },
});

const TargetChange = z.object(fields).partial()
  .meta({ id: "BackupTargetChanges", example: { name: "Local", default: true } });

const targetShape = {
  id: z.string(),
  name: z.string(),
  location: z.string(),
  kind: z.enum(["directory", "s3", "rest"]),
  password: z.string().meta({ description: "Always `********`" }),
  accessKeyId: z.string().nullable(),
  secretAccessKey: z.string().nullable(),
  region: z.string().nullable(),
  username: z.string().nullable(),
  userPassword: z.string().nullable(),
  caCertificate: z.string().nullable(),
  default: z.boolean(),
  room: z.int().nullable().meta({
    description: "Bytes that are left; null where the target does not report it",
  }),
  lastTestAt: Timestamp.nullable(),
  lastTestError: z.string().nullable(),
  lastCheckAt: Timestamp.nullable().meta({ description: "When its repository was last checked" }),
  lastCheckError: z.string().nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

const Target = z.object(targetShape).meta({ id: "BackupTarget" });

const EstablishedTarget = z.object({
  ...targetShape,
  newPassword: z.string().nullable().meta({
    description: "The password that was made for a new repository. It is not shown again; " +
      "`longshore backup-key show` prints it on the host",
  }),
}).meta({ id: "EstablishedBackupTarget" });

const TargetTest = z.object({
  ok: z.boolean(),
  error: z.string().nullable(),
  durationMs: z.int(),
}).meta({
  id: "BackupTargetTest",
  example: { ok: false, error: "nas.example.com refused the connection", durationMs: 12 },
});

const UNKNOWN = { 404: "The target does not exist" };
const REFUSED = {
  409: "The name or location is in use, or the limit of targets is reached",
  502: "The target does not answer, or refuses the request",
};

const READ = { role: "viewer", permission: "backup:read" } as const;
const WRITE = { role: "admin", permission: "backup:write" } as const;

export const backupTargetEndpoints = (deps: Deps) => [
  endpoint("GET /api/backup/targets", {
    operationId: "listBackupTargets",
    summary: "List backup targets",
    description: "By name.",
    ...READ,
    returns: z.object({ targets: z.array(Target) }).meta({ id: "BackupTargetList" }),
  }, async () => ({ targets: (await listTargets(deps)).map(targetOf) })),

  endpoint(
    "POST /api/backup/targets",
    {
      operationId: "createBackupTarget",
      summary: "Create a backup target",
      description: "Joins the restic repository at the location, or creates one. Servers may be " +
        "private; this host's loopback and link-local addresses are rejected unless " +
        "`OUTBOUND_ALLOW` lists them.",
      ...WRITE,
      body: NewTarget,
      returns: EstablishedTarget,
      status: 201,
      failures: REFUSED,
    },
    async ({ caller, body: { default: isDefault, ...body } }) =>
      shownTo(caller, targetOf(await createTarget(deps, { ...body, isDefault }))),
  ),

  endpoint("GET /api/backup/targets/:id", {
    operationId: "getBackupTarget",
    summary: "Get a backup target",
    ...READ,
    returns: Target,
    failures: UNKNOWN,
  }, async ({ params }) => targetOf(await getTarget(deps, params.id))),

  endpoint(
    "PUT /api/backup/targets/:id",
    {
      operationId: "updateBackupTarget",
      summary: "Update a backup target",
      description:
        "Omitted fields keep their values; null removes one. Secrets must be sent again " +
        "if the server of the location changes. The repository at another location is joined or " +
        "created; that at the former location stays.",
      ...WRITE,
      body: TargetChange,
      returns: EstablishedTarget,
      failures: { ...REFUSED, ...UNKNOWN },
    },
    async ({ caller, params, body: { default: isDefault, ...body } }) =>
      shownTo(
        caller,
        targetOf(await changeTarget(deps, caller, params.id, { ...body, isDefault })),
      ),
  ),

  endpoint("DELETE /api/backup/targets/:id", {
    operationId: "deleteBackupTarget",
    summary: "Delete a backup target",
    description: "Its repository and all snapshots stay as they are. Save the password first: " +
      "`longshore backup-key show` cannot print it afterwards.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeTarget(deps, params.id)),

  endpoint("POST /api/backup/targets/:id/test", {
    operationId: "testBackupTarget",
    summary: "Test a backup target",
    description: "Opens the repository, and writes and removes a lock. A failure is a response " +
      "with `ok: false`.",
    ...WRITE,
    returns: TargetTest,
    failures: UNKNOWN,
  }, ({ params }) => testTarget(deps, params.id)),
];

/** Maps to the field names of the API. */
const targetOf = <Of extends View>({ isDefault, ...target }: Of) => ({
  ...target,
  default: isDefault,
});

/** The keys of backups never leave the host through its hub; its console prints them. */
const shownTo = <Of extends { newPassword: string | null }>({ hub }: Caller, target: Of): Of =>
  hub ? { ...target, newPassword: null } : target;
