/** Configs and secrets of a service, which are copied into its containers. @module */

import type { Secrets } from "../../secrets/secrets.ts";
import {
  TAR_BLOCK_BYTES,
  TarError,
  tarHeader,
  type TarOwner,
  tarPadding,
} from "../../backup/tar.ts";
import { AppError } from "../../errors.ts";
import type { FileGrant } from "../load/grants.ts";
import type { Project } from "../load/resolve.ts";

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
export const filesOf = (
  project: Project,
  key: string,
  contents: ReadonlyMap<string, string>,
): ContainerFile[] => namedFilesOf(project, key, contents).map(([, file]) => file);

/** The files with what they are from, e.g. `secrets.key`. */
function namedFilesOf(
  project: Project,
  key: string,
  contents: ReadonlyMap<string, string>,
): [name: string, file: ContainerFile][] {
  const { configs = [], secrets = [] } = project.services[key]!;
  const read = (section: "configs" | "secrets", directory: string, grants: readonly FileGrant[]) =>
    grants.flatMap((grant): [string, ContainerFile][] => {
      const { source, target = source, uid = "0", gid = "0", mode } = grant;
      const name = `${section}.${source}`;
      const text = contents.get(name);
      const path = target.startsWith("/") ? target : `${directory}${target}`;
      return text === undefined ? [] : [[name, {
        path,
        text,
        uid: toId(uid, key),
        gid: toId(gid, key),
        mode: mode === undefined ? READABLE_BY_ALL : parseInt(mode, 8),
      }]];
    });
  return [...read("configs", "/", configs), ...read("secrets", "/run/secrets/", secrets)];
}

function toId(text: string, key: string): number {
  const id = Number(text);
  if (Number.isInteger(id) && id >= 0 && id < 2 ** 21) return id;
  throw new AppError("conflict", `${key}: uid and gid of configs and secrets must be numbers`);
}

/** Hashes of what a deploy does in a new container: its files and hooks. */
export interface FileHashes {
  /** Changes with any of them. */
  all: string;
  /** By name, e.g. `secrets.key` or `post_start`. */
  each: Readonly<Record<string, string>>;
}

/** Characters of the hash of one file: enough to notice a change. */
const EACH_HASH_LENGTH = 16;

/**
 * Hashes what a deploy does in a new container. It needs the installation's key, because viewers see
 * the labels of containers.
 *
 * @returns `undefined` without any.
 */
export async function hashFiles(
  secrets: Pick<Secrets, "fingerprint">,
  project: Project,
  key: string,
  contents: ReadonlyMap<string, string>,
): Promise<FileHashes | undefined> {
  const { post_start } = project.services[key]!;
  const named = namedFilesOf(project, key, contents);
  if (named.length === 0 && !post_start) return undefined;
  const files = named.map(([, file]) => file);
  const parts: (readonly [name: string, part: unknown])[] = [...named];
  if (post_start) parts.push(["post_start", post_start]);
  const byName = Map.groupBy(parts, ([name]) => name);
  const each: Record<string, string> = {};
  for (const [name, entries] of byName) {
    // With the service, so that equal secrets of two services are not recognized.
    const hash = await secrets.fingerprint(JSON.stringify([key, name, entries]));
    each[name] = hash.slice(0, EACH_HASH_LENGTH);
  }
  const all = await secrets.fingerprint(JSON.stringify(post_start ? [files, post_start] : files));
  return { all, each };
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
