/** A backup target as it is stored, of which no test opens the repository. @module */

import type { StoredTarget } from "../../db/backup_targets.ts";

export const backupTarget = (fields: Partial<StoredTarget> = {}): StoredTarget => ({
  id: "target",
  name: "NAS",
  location: "/backups",
  isDefault: true,
  accessKeyId: null,
  region: null,
  username: null,
  caCertificate: null,
  sealedSecrets: "",
  lastTestAt: null,
  lastTestError: null,
  lastCheckAt: null,
  lastCheckError: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  ...fields,
});
