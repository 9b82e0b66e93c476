/**
 * Files in a container, read and written through the engine.
 *
 * Only for containers that this service has created and not started yet: to answer, Docker 20.10
 * mounts the volumes of the container below its root directory. If the container is removed in that
 * moment, the engine deletes what is in the volumes, too.
 *
 * @module
 */

import type { Engine, EngineResponse } from "./client.ts";
import { EngineProtocolError, ifThere } from "./errors.ts";
import { segment } from "./path.ts";
import { type Signal, withMargin } from "./query.ts";

/** A path of a container, as the engine describes it. */
export interface ContainerPath {
  isDirectory: boolean;
  /** Neither a directory nor a link, pipe, socket or device. */
  isRegular: boolean;
  /** In bytes. */
  size: number;
  /** Unix milliseconds; 0 if unknown. */
  modifiedAtMs: number;
  /**
   * The target if it is a symbolic link; else empty. Docker does not follow it. Podman does, inside of
   * the mount that the link is in, and describes the target.
   */
  linkTarget: string;
}

/**
 * Describes a path of a container, which need not run. Symbolic links in the directory of the path
 * are followed inside the container's root, one at the end is not.
 *
 * @param path Absolute, as the container sees it.
 * @returns `undefined` if the container or the path does not exist.
 */
export async function containerStat(
  engine: Engine,
  id: string,
  { path, signal }: { path: string } & Signal,
): Promise<ContainerPath | undefined> {
  return await ifThere((async () => {
    const response = await engine.send(
      "HEAD",
      `/containers/${segment("container", id)}/archive`,
      { query: { path }, signal },
    );
    return readStat(response, path);
  })());
}

/**
 * Reads a path of a container as a tar archive.
 *
 * @param bytesMax Limit of the archive; a larger one is a protocol error.
 * @returns `undefined` if the container or the path does not exist.
 */
export async function containerArchive(
  engine: Engine,
  id: string,
  { path, bytesMax, signal }: {
    path: string;
    bytesMax: number;
  } & Signal,
): Promise<Uint8Array | undefined> {
  return await ifThere((async () => {
    const response = await engine.request(
      "GET",
      `/containers/${segment("container", id)}/archive`,
      { query: { path }, bodyMax: bytesMax, signal, long: true },
    );
    return await response.bytes();
  })());
}

/**
 * Reads a path of a container as a tar archive of any size. The engine waits while the caller does not
 * read; leaving the body early closes the connection. An archive that the engine could not complete
 * lacks its end.
 *
 * @returns `undefined` if the container or the path does not exist.
 */
export function containerArchiveStream(
  engine: Engine,
  id: string,
  { path, signal }: { path: string } & Signal,
): Promise<EngineResponse | undefined> {
  return ifThere(engine.request("GET", `/containers/${segment("container", id)}/archive`, {
    query: { path },
    signal,
    long: true,
    headTimeoutMs: withMargin(120),
  }));
}

/** The highest bit of Go's `os.FileMode`. */
const GO_DIRECTORY = 2 ** 31;

/** The bits of links, devices, pipes, sockets, character devices and other irregular files. */
const GO_IRREGULAR = [27, 26, 25, 24, 21, 19].reduce((bits, bit) => bits | 1 << bit, 0);

/** @param path Podman gives it as the target of what is not a link. */
function readStat({ headers }: EngineResponse, path: string): ContainerPath {
  try {
    const text = atob(headers.get("x-docker-container-path-stat") ?? "");
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const { mode, size, mtime, linkTarget } = JSON.parse(new TextDecoder().decode(bytes));
    return {
      isDirectory: Number(mode) >= GO_DIRECTORY,
      isRegular: Number(mode) < GO_DIRECTORY && (Number(mode) & GO_IRREGULAR) === 0,
      size: Number(size),
      modifiedAtMs: Date.parse(mtime) || 0,
      linkTarget: linkTarget === path ? "" : String(linkTarget ?? ""),
    };
  } catch (error) {
    throw new EngineProtocolError("The container engine did not describe a path", { cause: error });
  }
}

/**
 * Extracts a tar archive in a container, which need not run. Missing directories are created.
 *
 * @param path An existing directory, as the container sees it.
 * @param keepsOwners Podman gives files to the user of the container otherwise.
 * @throws {EngineError} 404 if the container or the directory does not exist; 400 if the container's
 * root file system is read-only.
 */
export async function containerExtract(
  engine: Engine,
  id: string,
  { path, archive, keepsOwners, signal }: {
    path: string;
    keepsOwners?: boolean;
    /** A stream is sent as the engine takes it; its error is that of the call. */
    archive: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  } & Signal,
): Promise<void> {
  await engine.send("PUT", `/containers/${segment("container", id)}/archive`, {
    query: { path, copyUIDGID: keepsOwners ? false : undefined },
    headers: { "Content-Type": "application/x-tar" },
    upload: archive instanceof ReadableStream ? archive : new Blob([archive]).stream(),
    signal,
    long: true,
    // The engine may still write to a slow disk after the last byte.
    headTimeoutMs: withMargin(600),
  });
}
