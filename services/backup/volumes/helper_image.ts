/**
 * Image of helper containers that run: `HELPER_IMAGE`, else the application's own if it has the programs.
 * They are looked for in a container that is never started.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import { containerStat } from "../../../engine/container_archive.ts";
import type { ContainerCreateBody } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import { type ImageInspect, imageInspect } from "../../../engine/images.ts";
import { createHelperOf, removeHelper } from "../../containers/helper_container.ts";
import { AppError } from "../../errors.ts";
import type { VolumeDeps } from "./mounted.ts";

/** The image of a helper container. */
export interface HelperImage {
  /** Base of the container: the image, a shell as entry point, and nothing that the image mounts. */
  body: ContainerCreateBody;
  /** Path of `tar`: the shell of busybox may prefer its own. */
  tar: string;
  /** Set when `tar` has run and is not GNU's. */
  lacksGnuTar?: boolean;
}

/** Results of probes by the id of the image, whose content never changes. */
const probed = new WeakMap<Engine, Map<string, HelperImage | string>>();

/** Programs of every helper; `mv`, `mkdir` and `stat` are in the same packages as these. */
const PROGRAMS = ["sh", "rm", "find", "tar"];

const DIRECTORIES = ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"];

const REMEDY = "set HELPER_IMAGE to an image with sh, rm, find and tar, e.g. busybox";

/**
 * Finds the image for helper containers.
 *
 * @param images Images of the containers that use the volume, as references or ids.
 * @throws {AppError} `conflict` without one; the message names `HELPER_IMAGE`.
 */
export async function findHelperImage(
  deps: VolumeDeps,
  images: readonly string[],
  signal: AbortSignal,
): Promise<HelperImage> {
  const { helperImage } = deps.config;
  if (helperImage !== null) {
    const found = await probeImage(deps, helperImage, signal);
    if (found === "missing") {
      throw new AppError("conflict", `HELPER_IMAGE ${helperImage} is not on this host; pull it`);
    }
    if (typeof found !== "string") return found;
    throw new AppError("conflict", `HELPER_IMAGE ${helperImage} has no ${found}; ${REMEDY}`);
  }
  for (const image of new Set(images)) {
    const found = await probeImage(deps, image, signal);
    if (typeof found !== "string") return found;
  }
  throw new AppError("conflict", `No image for a helper container is known; ${REMEDY}`);
}

/** @returns The name of the first missing program, or `missing` without the image. An image is probed once. */
async function probeImage(
  deps: VolumeDeps,
  image: string,
  signal: AbortSignal,
): Promise<HelperImage | string> {
  const { engine } = deps;
  const inspect = await ifThere(imageInspect(engine, image, { signal }));
  if (!inspect) return "missing";
  const results = probed.get(engine) ?? new Map<string, HelperImage | string>();
  probed.set(engine, results);
  const found = results.get(inspect.Id) ?? await probePrograms(deps, inspect, signal);
  results.set(inspect.Id, found);
  return found;
}

async function probePrograms(
  deps: VolumeDeps,
  { Id, Config }: ImageInspect,
  signal: AbortSignal,
): Promise<HelperImage | string> {
  const body: ContainerCreateBody = {
    Image: Id,
    HostConfig: {
      // The engine would create a volume for each path that the image declares.
      Mounts: Object.keys(Config?.Volumes ?? {})
        .map((target) => ({ Type: "tmpfs", Target: target })),
    },
  };
  const id = await createHelperOf(deps, body, [], { signal });
  try {
    const paths = new Map<string, string>();
    for (const program of PROGRAMS) {
      const path = await findProgram(deps, id!, program, signal);
      if (path === undefined) return program;
      paths.set(program, path);
    }
    return { body: { ...body, Entrypoint: [paths.get("sh")!] }, tar: paths.get("tar")! };
  } finally {
    await removeHelper(deps, id!);
  }
}

async function findProgram(
  { engine }: VolumeDeps,
  id: string,
  program: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const directory of DIRECTORIES) {
    const path = `${directory}/${program}`;
    const found = await containerStat(engine, id, { path, signal });
    if (found && !found.isDirectory) return path;
  }
  return undefined;
}
