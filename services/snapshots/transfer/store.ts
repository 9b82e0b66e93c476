/** Stores the archive of a snapshot in a repository of this host. @module */

import { openTargetRepository } from "../../backup/targets/open.ts";
import { translated } from "../../backup/targets/repository.ts";
import { createSkipped, storeEntries } from "../../backup/trees/store.ts";
import { readTags, tagsOf } from "../../backup/trees/tags.ts";
import { createSkipList } from "../../backup/volumes/limits.ts";
import { readTar } from "../../backup/volumes/tar_reader.ts";
import type { Deps } from "../../deps.ts";
import { failInterrupted } from "../../jobs/kind.ts";
import { type Description, openArchived } from "./format.ts";
import type { ReceivedSnapshot, ReceiveJob } from "./job.ts";

/** @throws {AppError} `conflict` for an archive that cannot be stored; `bad_gateway`. */
export async function storeArchive(
  deps: Deps,
  { attachment, input: { targetId, place, size }, step, signal, progress }: ReceiveJob,
): Promise<ReceivedSnapshot> {
  if (!attachment) return await failInterrupted();
  const { content } = attachment;
  return await step("store", async () => {
    using opened = await openTargetRepository(deps, targetId, signal);
    const skipList = createSkipList();
    const entries = readTar(copies(content), { root: "", skipped: skipList });
    const { description, tree } = await translated(() => openArchived(entries));
    const stored = await storeEntries(opened.repository, tree, {
      paths: description.paths,
      tags: receivedTags(description),
      size,
      job: { signal, progress },
    });
    const skipped = createSkipped();
    skipped.add("", skipList);
    return { ...stored, ...skipped.result(), target: place };
  });
}

/** Pieces of an upload are in a buffer of the request, and a repository takes pieces for its own. */
async function* copies(content: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of content) yield piece.slice();
}

/** Tags of this host: no update here needs what one of the other host has kept. The note has its origin. */
function receivedTags({ hostname, tags, time }: Description): string[] {
  const { stack, note } = readTags({ tags });
  const origin = `${hostname.slice(0, 100)}, ${time.slice(0, 19)}`.replaceAll(/\p{Cc}/gu, "-");
  return tagsOf({
    stack,
    reason: "manual",
    note: note === null ? `from ${origin}` : `${note} (from ${origin})`,
  });
}
