/** Reads the description of a stack from a snapshot, which may be of another host or version. @module */

import { Buffer } from "node:buffer";
import type { Repository } from "../backup/restic/repository.ts";
import type { Snapshot } from "../backup/restic/snapshot.ts";
import { translated } from "../backup/targets/repository.ts";
import { bytesOf } from "../backup/trees/tree.ts";
import { AppError } from "../errors.ts";
import { type DescribedContainer, DESCRIPTION_FILE, type StackDescription } from "./description.ts";

/** Largest description, in bytes. */
const BYTES_MAX = 32 * 1024 * 1024;

/** @throws {AppError} `conflict` for a snapshot without one that can be read; `bad_gateway`. */
export async function readDescription(
  repository: Repository,
  { id }: Pick<Snapshot, "id">,
  stack: string,
  signal: AbortSignal,
): Promise<StackDescription> {
  const path = bytesOf(`stacks/${stack}/${DESCRIPTION_FILE}`);
  const pieces: Uint8Array[] = [];
  let size = 0;
  await translated(async () => {
    for await (const piece of repository.readFile(id, path, {}, signal)) {
      size += piece.length;
      if (size > BYTES_MAX) throw unreadable("is too large");
      pieces.push(piece);
    }
  });
  const description = parse(Buffer.concat(pieces).toString());
  if (isDescription(description)) return description;
  throw unreadable("is not one of this version");
}

const unreadable = (problem: string) =>
  new AppError("conflict", `The description of the stack in the snapshot ${problem}`);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable("is damaged");
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Checks the fields that are used; the engine checks the configurations themselves. */
function isDescription(value: unknown): value is StackDescription {
  return isObject(value) && value.version === 1 && typeof value.stack === "string" &&
    Array.isArray(value.containers) && value.containers.every(isContainer);
}

function isContainer(value: unknown): value is DescribedContainer {
  if (!isObject(value) || !isObject(value.inspect)) return false;
  const { Config, HostConfig, Mounts, NetworkSettings } = value.inspect;
  return [value.name, value.image, value.imageId].every((each) => typeof each === "string") &&
    (value.service === null || typeof value.service === "string") &&
    Array.isArray(value.digests) && value.digests.every((each) => typeof each === "string") &&
    [Config, HostConfig, NetworkSettings].every(isObject) &&
    (Mounts === null || (Array.isArray(Mounts) && Mounts.every(isObject)));
}
