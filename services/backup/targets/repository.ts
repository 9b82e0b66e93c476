/** The repository of a target: its storage, and how it is opened and created. @module */

import type { StoredTarget } from "../../../db/backup_targets.ts";
import type { Deps } from "../../deps.ts";
import { nodeOs } from "../../builtins.ts";
import { AppError } from "../../errors.ts";
import type { LockHolder } from "../restic/lock.ts";
import type { RepositoryOptions } from "../restic/repository.ts";
import { RepositoryError } from "../restic/repository_error.ts";
import { type Storage, StorageError } from "../restic/storage.ts";
import { createDirectoryStorage } from "../storages/directory.ts";
import { createRestStorage } from "../storages/rest.ts";
import { createS3Storage } from "../storages/s3.ts";
import { TarError } from "../tar.ts";
import { TreeError } from "../volumes/limits.ts";
import type { StorageDeps } from "../storages/requests.ts";
import type { TargetSecrets } from "./credentials.ts";
import { checkDirectory } from "./directories.ts";
import { parseLocation } from "./location.ts";

/** Region of servers that have none; those of Amazon name theirs when it is wrong. */
const DEFAULT_REGION = "us-east-1";

/** Storage of a target. A directory is checked again, because links and BACKUP_DIRS can change. */
export async function targetStorage(
  deps: StorageDeps,
  target: Pick<StoredTarget, "location" | "accessKeyId" | "region" | "username" | "caCertificate">,
  { secretAccessKey, userPassword }: Omit<TargetSecrets, "password">,
): Promise<Storage> {
  const location = parseLocation(target.location);
  if (typeof location === "string") throw new AppError("conflict", `The location ${location}`);
  const { caCertificate, username } = target;
  switch (location.kind) {
    case "directory":
      return createDirectoryStorage(await checkDirectory(deps, location.path), deps);
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

/** Options with which a target's repository is opened and created. */
export const repositoryOptions = (
  deps: HolderDeps & Pick<Deps, "now">,
  storage: Storage,
  password: string,
): RepositoryOptions => ({ storage, password, holder: lockHolder(deps), now: deps.now });

/** @throws {StorageError} */
export async function hasRepository(storage: Storage, signal: AbortSignal): Promise<boolean> {
  for await (const _ of storage.list("config", signal)) return true;
  return false;
}

type HolderDeps = Pick<Deps, "server" | "startedAt">;

/** This process in locks and keys, by the name of the host that restic would write. */
function lockHolder({ server, startedAt }: HolderDeps): LockHolder {
  return {
    hostname: nodeOs().hostname(),
    username: `longshore-${server.id}`,
    uid: Deno.uid() ?? 0,
    gid: 0, // the permissions of this process do not include it, and nothing depends on it
    pid: Deno.pid,
    startedAt,
  };
}

/**
 * Translates a failure of a target, or of what is read for it or written from it, for the caller; other
 * errors are returned as they are.
 */
export function asTargetError(error: unknown): unknown {
  if (error instanceof RepositoryError && error.reason === "wrong_password") {
    const message = "The password does not open the repository; correct it";
    return new AppError("invalid", message, { cause: error });
  }
  if (error instanceof RepositoryError && error.reason === "not_found") {
    return new AppError("not_found", error.message, { cause: error });
  }
  const isOfContent = error instanceof RepositoryError || error instanceof TreeError ||
    error instanceof TarError;
  if (isOfContent) return new AppError("conflict", error.message, { cause: error });
  if (error instanceof StorageError) {
    return new AppError("bad_gateway", error.message, { cause: error });
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new AppError("bad_gateway", "The target did not answer in time", { cause: error });
  }
  return error;
}

/** Runs work on a repository; its failures become errors that the caller can act on. */
export async function translated<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw asTargetError(error);
  }
}
