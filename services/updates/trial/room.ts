/** Room on the engine's disk. @module */

import { containerInspect } from "../../../engine/container_inspect.ts";
import { ifThere } from "../../../engine/errors.ts";
import { type EngineInfo, systemInfo } from "../../../engine/system.ts";
import { nodeFs, nodeOs } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import type { Entries, Entry } from "../../backup/restic/entry.ts";
import { engineDiskCheck } from "../../backup/volumes/engine_disk.ts";
import { AppError } from "../../errors.ts";
import { byteText } from "../../text/bytes.ts";
import { isInside } from "../../text/paths.ts";

export type RoomDeps = Pick<Deps, "engine" | "self">;

/** Part of the copies that must stay free besides. */
const MARGIN = 1.1;

/** Bytes of files between two looks at the room. */
const LOOK_BYTES = 256 * 1024 ** 2;

/** @returns Bytes that are free on the engine's disk; `undefined` where it cannot be seen, e.g. on another host. */
export const engineRoom = async (deps: RoomDeps): Promise<number | undefined> =>
  await roomOf(deps, await systemInfo(deps.engine));

/** As {@linkcode engineRoom}. */
export const roomOf = async (deps: RoomDeps, info: EngineInfo): Promise<number | undefined> =>
  await freeAt(await findEngineDisk(deps, info).catch(() => undefined));

async function freeAt(path: string | undefined): Promise<number | undefined> {
  if (path === undefined) return undefined;
  try {
    const { bavail, bsize } = await nodeFs().promises.statfs(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/**
 * Finds a path on the engine's disk. In one of its containers, the path of the engine's directory may be
 * one of another disk; volumes of the container, and its root, are on the engine's disk.
 */
async function findEngineDisk(
  { engine, self: { id, isContainerized = false } }: RoomDeps,
  { DockerRootDir: root, Driver, Name: host }: EngineInfo,
): Promise<string | undefined> {
  if (root === undefined) return undefined;
  const own = id === null ? undefined : await ifThere(containerInspect(engine, id));
  if (!own) {
    const isNear = !isContainerized && !engine.endpoint.address.startsWith("tcp:");
    return isNear || host === nodeOs().hostname() ? root : undefined;
  }
  const isOnDisk = await engineDiskCheck(engine);
  for (const { Type, Name, Source, Destination } of own.Mounts ?? []) {
    if (Source === undefined || !isInside(Source, root)) continue;
    if (Type !== "volume" || isOnDisk({ type: "volume", source: Name! })) return Destination;
  }
  return ROOT_DRIVERS.includes(Driver ?? "") ? "/" : undefined;
}

/** Storage drivers whose containers have a root in the engine's directory. */
const ROOT_DRIVERS = ["overlay", "overlay2", "vfs"];

/**
 * @param needed Bytes; like `free`, `undefined` or `null` if unknown.
 * @param subject Begins the message, e.g. `The copies need`.
 * @throws {AppError} `conflict` if both are known and the room does not suffice.
 */
export function assertEngineRoom(
  needed: number | undefined | null,
  free: number | undefined | null,
  subject: string,
): void {
  if (needed == null || free == null || needed <= free) return;
  throw new AppError(
    "conflict",
    `${subject} ${byteText(needed)}, and the engine's disk has ${
      byteText(free)
    } left; free room there`,
  );
}

/**
 * @param bytes Of the copies; `undefined` if unknown.
 * @param subject Begins the message.
 * @throws {AppError} `conflict` without enough room, where the disk can be seen.
 */
export async function assertRoomForCopies(
  deps: RoomDeps,
  bytes: number | undefined,
  subject = "The copies need",
): Promise<void> {
  assertEngineRoom(bytes && bytes * MARGIN, await engineRoom(deps), subject);
}

/**
 * Passes entries on as long as there is room for them: the sizes of directories, and of some volumes, are
 * not known before.
 *
 * @throws {AppError} `conflict` before the file that has too little, where the disk can be seen.
 */
export async function* whileThereIsRoom(
  deps: RoomDeps,
  entries: Entries,
  subject = "The copies need",
): Entries & AsyncGenerator<Entry> {
  let bytes = 0;
  let disk: Promise<string | undefined> | undefined;
  for await (const entry of entries) {
    if (entry.hardLinkTo === undefined) bytes += entry.size;
    if (bytes >= LOOK_BYTES) {
      disk ??= findEngineDisk(deps, await systemInfo(deps.engine)).catch(() => undefined);
      assertEngineRoom(bytes, await freeAt(await disk), subject);
      bytes = 0;
    }
    yield entry;
  }
}
