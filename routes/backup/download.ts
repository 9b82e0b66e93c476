/** POST /api/backup: the databases, keys and license as a file. @module */

import * as z from "zod";
import { openBackupDownload } from "../../services/backup/download.ts";
import type { Deps } from "../../services/deps.ts";
import { attachment } from "../contract/attachment.ts";
import { rawEndpoint } from "../contract/endpoint.ts";

export const backupEndpoints = (deps: Deps) => [
  rawEndpoint("POST /api/backup", {
    operationId: "downloadBackup",
    summary: "Download a backup",
    description: "The archive that `longshore backup` writes and `longshore restore` reads. It " +
      "contains the keys that decrypt stored secrets and sign access tokens: keep it as secret as " +
      "the data directory. Requires the built-in role admin. One download at a time.",
    role: "admin",
    loginOnly: true,
    returns: z.string().meta({ format: "binary" }),
    produces: "application/x-tar",
    replyHeaders: { "Content-Disposition": "Suggests a file name" },
    failures: {
      409: "A backup is already being downloaded",
      503: "The state database cannot be copied",
    },
  }, async () => {
    const { createdAt, size, body } = await openBackupDownload(deps);
    const name = `longshore-${createdAt.toISOString().replace(/:|\.\d+/g, "")}.backup`;
    return new Response(body, {
      headers: {
        "content-type": "application/x-tar",
        "content-length": String(size),
        "content-disposition": attachment(name),
      },
    });
  }),
];
