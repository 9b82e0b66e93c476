/** The repository of a target: its storage, and how it is opened and created. @module */

import type { StoredTarget } from "../../../db/backup_targets.ts";
import type { Deps } from "../../deps.ts";
import { nodeOs } from "../../builtins.ts";
import { AppError } from "../../errors.ts";
import { createConfig, loadConfig } from "../restic/config.ts";
import { addKey, openKeys, randomKeys } from "../restic/key.ts";
import type { LockHolder } from "../restic/lock.ts";
import { RepositoryError } from "../restic/repository_error.ts";
import type { RepositoryFiles } from "../restic/repository_files.ts";
import { type Storage, StorageError } from "../restic/storage.ts";
import { createDirectoryStorage } from "../storages/directory.ts";
import { createRestStorage } from "../storages/rest.ts";
import { createS3Storage } from "../storages/s3.ts";
import type { StorageDeps } from "../storages/requests.ts";
import type { TargetSecrets } from "./credentials.ts";
import { checkDirectory } from "./directories.ts";
import { parseLocation } from "./location.ts";

/** Region of servers that have none; those of Amazon name theirs when it is wrong. */
const DEFAULT_REGION = "us-east-1";

/** Storage of a target. A directory is checked again, because links and BACKUP_DIRS can change. */
export function targetStorage(
  deps: StorageDeps,
  target: Pick<StoredTarget, "location" | "accessKeyId" | "region" | "username" | "caCertificate">,
  { secretAccessKey, userPassword }: Omit<TargetSecrets, "password">,
): Storage {
  const location = parseLocation(target.location);
  if (typeof location === "string") throw new AppError("conflict", `The location ${location}`);
  const { caCertificate, username } = target;
  switch (location.kind) {
    case "directory":
      return createDirectoryStorage(checkDirectory(deps, location.path), deps);
    case "rest":
      return createRestStorage(deps, { url: location.url, username, userPassword, caCertificate });
    case "s3":
      return createS3Storage(deps, {
        ...location,
        accessKeyId: target.accessKeyId ?? "",
        secretAccessKey: secretAccessKey ?? "",
        region: target.region ?? DEFAULT_REGION,
        caCertificate,
      });
  }
}

/** @throws {StorageError} */
export async function hasRepository(storage: Storage, signal: AbortSignal): Promise<boolean> {
  for await (const _ of storage.list("config", signal)) return true;
  return false;
}

/** @throws {RepositoryError | StorageError} */
export async function openRepository(
  storage: Storage,
  password: string,
  signal: AbortSignal,
): Promise<RepositoryFiles> {
  const keys = await openKeys(storage, password, signal);
  const { version } = await loadConfig({ storage, keys, version: 2 }, signal);
  return { storage, keys, version };
}

/** Creates a repository. The config is written last: without it there is none. */
export async function createRepository(
  deps: HolderDeps & Pick<Deps, "now">,
  storage: Storage,
  password: string,
  signal: AbortSignal,
): Promise<void> {
  const keys = await randomKeys();
  const { hostname, username } = lockHolder(deps);
  const created = deps.now().toISOString();
  await addKey(storage, keys, password, { hostname, username, created }, signal);
  await createConfig({ storage, keys, version: 2 }, signal);
}

type HolderDeps = Pick<Deps, "server" | "startedAt">;

/** This process in locks and keys, by the name of the host that restic would write. */
export function lockHolder({ server, startedAt }: HolderDeps): LockHolder {
  return {
    hostname: nodeOs().hostname(),
    username: `longshore-${server.id}`,
    uid: Deno.uid() ?? 0,
    gid: Deno.gid() ?? 0,
    pid: Deno.pid,
    startedAt,
  };
}

/** Translates a failure of a target for the caller; other errors are returned as they are. */
export function asTargetError(error: unknown): unknown {
  if (error instanceof RepositoryError) {
    return error.reason === "wrong_password"
      ? new AppError("invalid", "The password does not open the repository; correct it", {
        cause: error,
      })
      : new AppError("conflict", error.message, { cause: error });
  }
  return error instanceof StorageError
    ? new AppError("bad_gateway", error.message, { cause: error })
    : error;
}
