/**
 * Loads of image archives. A load is a job, so that it is visible and can be cancelled, and its
 * client waits for the result.
 *
 * @module
 */

import { imageLoad } from "../../engine/image_archives.ts";
import type { Caller } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { failInterrupted, type NamedJobKind } from "../jobs/kind.ts";
import { startJob } from "../jobs/runner.ts";
import { asJobError } from "./errors.ts";

/** An archive that is being uploaded. */
interface Archive {
  content: ReadableStream<Uint8Array>;
  /** Aborts when the client disconnects. */
  disconnected: AbortSignal;
}

interface LoadInput {
  /** Bytes; `null` if the client did not say. */
  size: number | null;
}

interface LoadedImages {
  /** Id of the job. */
  job: string;
  /** Loaded names, and ids of images without a name. */
  images: string[];
}

export const imageLoadKind: NamedJobKind<LoadInput, { images: string[] }, Archive> = {
  id: "image.load",
  group: "Images",
  title: "Load",
  running: "Loading an archive",
  unit: "bytes",
  targetType: "image",
  role: "admin",
  permission: "images:write",
  async run(deps, { input, attachment: archive, signal, progress, step }) {
    if (!archive) return await failInterrupted();
    let current = 0;
    const onSent = (bytes: number) => {
      current += bytes;
      progress({ current, total: input.size, message: null });
    };
    try {
      return await step("load", async () => ({
        images: await imageLoad(deps.engine, archive.content, { onSent, signal }),
      }));
    } catch (error) {
      throw asJobError(error, "The archive cannot be loaded");
    } finally {
      deps.diskUsage.invalidate();
    }
  },
  recover: failInterrupted,
};

/**
 * Loads the images of an archive; it is streamed to the engine. A job that ends early cancels the
 * archive, and the engine then discards what it has received.
 *
 * @throws {AppError} `invalid` with the engine's reason; `unavailable` if the disk is full;
 * `conflict` if the job was cancelled.
 * @throws The error of the archive.
 */
export async function loadImages(
  deps: Deps,
  caller: Caller,
  input: LoadInput,
  archive: Archive,
): Promise<LoadedImages> {
  // Loads do not exclude each other, so that each has a target of its own.
  const target = `upload ${crypto.randomUUID()}`;
  try {
    const { job, completion } = startJob(deps, imageLoadKind, {
      target,
      input,
      attachment: archive,
      caller,
      signal: archive.disconnected,
    });
    return { job: job.id, ...await completion };
  } finally {
    // A job that never ran has not read it.
    if (!archive.content.locked) await archive.content.cancel();
  }
}
