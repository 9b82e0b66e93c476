/**
 * Configs and secrets of a service, which are copied into its containers.
 *
 * @module
 */

import type { Secrets } from "../../../secrets.ts";
import {
  TAR_BLOCK_BYTES,
  TarError,
  tarHeader,
  type TarOwner,
  tarPadding,
} from "../../../backup/tar.ts";
import { AppError } from "../../../errors.ts";
import type { FileGrant } from "../load/service_keys.ts";
import type { Project, Service } from "../load/resolve.ts";

/** A file in a container. */
export interface ContainerFile extends TarOwner {
  /** Absolute path. */
  path: string;
  text: string;
}

const READABLE_BY_ALL = 0o444;

const encoder = new TextEncoder();

/**
 * The files of a service whose texts are known. Those on the host are mounted instead.
 *
 * @param contents Texts by path, e.g. `secrets.key`.
 */
export function filesOf(
  project: Project,
  key: string,
  contents: ReadonlyMap<string, string>,
): ContainerFile[] {
  const { configs = [], secrets = [] } = project.services[key]!;
  const read = (section: "configs" | "secrets", directory: string, grants: readonly FileGrant[]) =>
    grants.flatMap(({ source, target = source, uid = "0", gid = "0", mode }) => {
      const text = contents.get(`${section}.${source}`);
      const path = target.startsWith("/") ? target : `${directory}${target}`;
      return text === undefined ? [] : [{
        path,
        text,
        uid: toId(uid, key),
        gid: toId(gid, key),
        mode: mode === undefined ? READABLE_BY_ALL : parseInt(mode, 8),
      }];
    });
  return [...read("configs", "/", configs), ...read("secrets", "/run/secrets/", secrets)];
}

function toId(text: string, key: string): number {
  const id = Number(text);
  if (Number.isInteger(id) && id >= 0 && id < 2 ** 21) return id;
  throw new AppError("conflict", `${key}: uid and gid of configs and secrets must be numbers`);
}

/**
 * Returns a hash that changes with what a deploy does in a new container: its files and hooks. It
 * needs the installation's key, because viewers see the labels of containers.
 *
 * @returns `undefined` without any.
 */
export async function hashFiles(
  secrets: Pick<Secrets, "fingerprint">,
  files: readonly ContainerFile[],
  { post_start }: Pick<Service, "post_start">,
): Promise<string | undefined> {
  if (files.length === 0 && !post_start) return undefined;
  return await secrets.fingerprint(JSON.stringify(post_start ? [files, post_start] : files));
}

/**
 * The files as a tar archive for the root directory.
 *
 * @throws {AppError} `conflict` for a path that the format cannot have.
 */
export function archiveOf(files: readonly ContainerFile[], at: Date): Uint8Array<ArrayBuffer> {
  const parts = files.flatMap(({ path, text, ...owner }) => {
    const bytes = encoder.encode(text);
    const header = headerOf({ name: path.slice(1), size: bytes.length }, at, owner);
    return [header, bytes, new Uint8Array(tarPadding(bytes.length))];
  });
  parts.push(new Uint8Array(2 * TAR_BLOCK_BYTES));
  const archive = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    archive.set(part, offset);
    offset += part.length;
  }
  return archive;
}

function headerOf(...parameters: Parameters<typeof tarHeader>) {
  try {
    return tarHeader(...parameters);
  } catch (error) {
    if (error instanceof TarError) throw new AppError("conflict", error.message, { cause: error });
    throw error;
  }
}
