/** Starts a restore. @module */

import type { ByteString } from "../../backup/restic/entry.ts";
import { bytesOf } from "../../backup/restic/entry_directory.ts";
import { findEntry } from "../../backup/trees/find_entry.ts";
import {
  directoryPart,
  type Part,
  type RestoredPart,
  volumePart,
} from "../../backup/trees/part.ts";
import type { Snapshot } from "../../backup/restic/snapshot.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import {
  findWritingImages,
  type VolumeImage,
  writingImages,
} from "../../backup/volumes/writing_images.ts";
import { assertNotOwn } from "../../backup/volumes/own_data.ts";
import { findHostPath } from "../../backup/volumes/host_path.ts";
import { containersUsing } from "../../backup/volumes/users.ts";
import { findVolume } from "../../../engine/volumes.ts";
import type { Holder } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { AppError, InputError, notFound } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { affectedBy, identityOf } from "../../containers/reserve.ts";
import { currentContainers } from "../../containers/reads.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import { decodePath, encodePath, pathText } from "../file_path.ts";
import { assertStoppable } from "../../containers/stoppable.ts";
import { type OpenedSnapshot, openSnapshot } from "../list.ts";
import { assertNoneOwn } from "../own_path.ts";
import { assertRoomToRestore, readRestoreRoom } from "../restore_room.ts";
import type { RestoreInput } from "./job.ts";
import { restoreKind } from "./kinds.ts";

export interface RestoreRequest {
  target?: string | undefined;
  what: "volume" | "file";
  /** Paths in the snapshot; default: all volumes. */
  paths?: string[] | undefined;
  to: "new" | "replace";
  stableSeconds?: number | undefined;
  /** Name of the new volume. */
  as?: string | undefined;
}

/** Longest look for a helper image, in milliseconds. */
const LOOK_MS = 30_000;

/**
 * Starts a restore of volumes, or of files in one.
 *
 * @throws {AppError} `not_found` for an unknown snapshot, target or path; `invalid` for paths that
 * cannot be restored so; `conflict` for a name in use, for a file that cannot be written, without an image
 * that can empty a volume, without `HELPER_IMAGE` for directories of the host, without room on the engine's
 * disk, and while another action is in progress; `forbidden` for the service's own data.
 */
export async function startRestore(
  deps: Deps,
  caller: Holder,
  id: string,
  request: RestoreRequest,
): Promise<JobView> {
  using opened = await openSnapshot(deps, id, request.target);
  const { target, snapshot } = opened;
  const { files, parts } = await planRestore(deps, opened, request);
  const checked = { snapshot: snapshot.id, parts, files };
  assertRoomToRestore(await readRestoreRoom(deps, opened.repository, checked));
  const users = request.to === "new"
    ? []
    : await containersUsing(deps, parts.map(({ to }) => to.mount));
  const images = writingImages(users);
  if (request.to === "replace") await assertReplaceable(deps, parts, { users, images });
  const all = await currentContainers(deps);
  return startJob(deps, restoreKind, {
    target: targetOf(users, parts),
    input: {
      targetId: target.id,
      place: target.name,
      snapshot: snapshot.id,
      files,
      parts,
      to: request.to,
      stableSeconds: request.stableSeconds ?? null,
      images,
      affected: users.flatMap((each) => [identityOf(each), ...affectedBy(each, all)]),
    },
    caller,
  }).job;
}

/** Finds the parts of a request, and its files; `null` for whole parts. */
async function planRestore(
  deps: Deps,
  opened: OpenedSnapshot,
  request: RestoreRequest,
): Promise<Pick<RestoreInput, "files" | "parts">> {
  const { snapshot } = opened;
  const volumes = snapshot.paths.filter((path) => path.startsWith("/volumes/"));
  const paths = [...new Set(request.paths ?? volumes)];
  if (paths.length === 0) throw new AppError("not_found", "The snapshot has no volumes");
  if (request.to === "replace" && request.as !== undefined) {
    throw new InputError([{ path: "body.as", message: "is for new volumes only" }]);
  }
  for (const path of paths) await assertIn(opened, path, request.what);
  await assertNoneOwn(deps, paths);
  if (paths.some((path) => /^\/(volumes|directories)$/.test(pathText(path)))) throw notParts();
  const files = request.what === "file" ? paths.map((path) => decodePath(path).slice(1)) : null;
  const sources = files === null
    ? paths
    : [...new Set(paths.map((path) => partPathOf(path, snapshot)))];
  const parts: RestoredPart[] = [];
  for (const source of sources) {
    parts.push(await planPart(deps, source, request, { count: sources.length, planned: parts }));
  }
  await assertNotOwn(deps, parts.map(({ to }) => to));
  return { files, parts };
}

/** @throws {AppError} `conflict` for containers that cannot stop, and without images for helpers. */
async function assertReplaceable(
  deps: Deps,
  parts: readonly RestoredPart[],
  { users, images }: { users: readonly Container[]; images: readonly VolumeImage[] },
): Promise<void> {
  await assertStoppable(deps, users);
  // They are needed to put back what was there, too.
  const mounts = parts.map(({ to }) => to.mount);
  const signal = AbortSignal.timeout(LOOK_MS);
  const look = () => findWritingImages(deps, mounts, images, signal);
  await withoutValuesOf(deps.engine, users, look);
}

/**
 * @throws {AppError} `not_found` for a path that the snapshot does not have; `invalid` for a file that
 * would have to be a volume.
 */
async function assertIn(
  { repository, snapshot }: OpenedSnapshot,
  path: string,
  what: RestoreRequest["what"],
): Promise<void> {
  const bytes = decodePath(path).slice(1);
  const signal = AbortSignal.timeout(LOOK_MS);
  const found = await findEntry(repository, snapshot.id, bytes, signal);
  if (!found) throw new AppError("not_found", `${path} is not in the snapshot`);
  if (what === "volume" && found.type !== "dir") throw invalid("must be directories");
}

/** E.g. `/volumes/data` of `/volumes/data/app/config.json`, or a directory of the host. */
function partPathOf(path: string, { paths }: Pick<Snapshot, "paths">): string {
  const found = /^\/volumes\/[^/]+(?=\/)/.exec(path)?.[0] ??
    paths.filter((each) => each.startsWith("/directories/"))
      .map((each) => encodePath(bytesOf(each)))
      .find((each) => path.startsWith(`${each}/`));
  if (found !== undefined) return found;
  throw invalid("must be files below /volumes or /directories");
}

const notParts = () => invalid("must be volumes or directories");

const invalid = (message: string) => new InputError([{ path: "body.paths", message }]);

async function planPart(
  deps: Deps,
  source: string,
  { to, as }: RestoreRequest,
  { count, planned }: { count: number; planned: readonly RestoredPart[] },
): Promise<RestoredPart> {
  const from: ByteString = decodePath(source).slice(1);
  if (to === "replace") {
    const directory = /^\/directories(\/.+)$/.exec(pathText(source))?.[1];
    if (directory !== undefined) return await replacedDirectory(deps, from, directory);
    const name = /^\/volumes\/([^/]+)$/.exec(source)?.[1];
    if (name === undefined) throw notParts();
    if (!await findVolume(deps.engine, name)) throw notFound("Volume", name);
    return { from, to: volumePart(name) };
  }
  if (as !== undefined && count > 1) {
    throw new InputError([{ path: "body.as", message: "can name one volume only" }]);
  }
  const name = as ??
    await freeName(deps, `${encodePath(from).split("/").at(-1)}-restored`, planned);
  if (as !== undefined && await findVolume(deps.engine, name)) {
    throw new AppError("conflict", `Volume ${name} already exists; choose another name (as)`);
  }
  return { from, to: volumePart(name) };
}

/** The name, or the first of `NAME-2`, `NAME-3` … that no volume has. */
async function freeName(
  { engine }: Deps,
  name: string,
  planned: readonly RestoredPart[],
): Promise<string> {
  for (let number = 1;; number++) {
    const numbered = number === 1 ? name : `${name}-${number}`;
    const isPlanned = planned.some(({ to }) => to.mount.source === numbered);
    if (!isPlanned && !await findVolume(engine, numbered)) return numbered;
  }
}

/** @throws {AppError} `not_found`; `conflict` unless it is below `STACK_ROOTS`, or behind a link. */
async function replacedDirectory(
  deps: Deps,
  from: ByteString,
  path: string,
): Promise<RestoredPart> {
  const { existing, names } = await findHostPath(deps, path, AbortSignal.timeout(LOOK_MS));
  if (existing < names.length) throw notFound("Directory", path);
  return { from, to: directoryPart(path) };
}

/** The stack whose containers use the parts, otherwise the names of the parts. */
function targetOf(users: readonly Container[], parts: readonly { to: Part }[]): string {
  const [stack, ...others] = new Set(users.map(({ composeProject }) => composeProject));
  return stack && others.length === 0
    ? stack
    : parts.map(({ to }) => to.mount.source).join(", ").slice(0, 512);
}
