/** Stores the archive of a snapshot in a repository of this host. @module */

import { openTargetRepository } from "../../backup/targets/open.ts";
import { translated } from "../../backup/targets/repository.ts";
import { readRoom } from "../../backup/targets/targets.ts";
import { createSkipped, storeEntries } from "../../backup/trees/store.ts";
import { readTags, tagsOf } from "../../backup/trees/tags.ts";
import { createSkipList } from "../../backup/volumes/limits.ts";
import { readTar } from "../../backup/volumes/tar_reader.ts";
import type { Deps } from "../../deps.ts";
import { failInterrupted } from "../../jobs/kind.ts";
import { assertRoom } from "../target_room.ts";
import { type Description, openArchived } from "./format.ts";
import type { ReceivedSnapshot, ReceiveJob } from "./job.ts";
import { copiesWithin, readShared } from "./room.ts";

/** @throws {AppError} `conflict` for an archive that cannot be stored; `bad_gateway`. */
export async function storeArchive(
  deps: Deps,
  job: ReceiveJob,
): Promise<ReceivedSnapshot> {
  const { attachment, input: { snapshot, targetId, place, size }, step, signal } = job;
  if (!attachment) return await failInterrupted();
  const { content } = attachment;
  return await step("store", async () => {
    using opened = await openTargetRepository(deps, targetId, signal);
    const { repository } = opened;
    const skipList = createSkipList();
    const readLeft = () => readRoom(deps, { id: targetId });
    const entries = readTar(copiesWithin(content, readLeft, place), {
      root: "",
      skipped: skipList,
    });
    const { description, tree } = await translated(() => openArchived(entries, { snapshot, size }));
    if (size !== null) {
      const added = Math.max(0, size - await readShared(deps, repository, job, description));
      assertRoom({ added, room: await readLeft() }, place, { what: "the snapshot" });
    }
    const stored = await storeEntries(deps, repository, tree, {
      paths: description.paths,
      tags: receivedTags(description),
      size,
      job,
    });
    const skipped = createSkipped();
    skipped.add("", skipList);
    return { ...stored, ...skipped.result(), target: place };
  });
}

/** Names of stacks, which others have chosen. */
const STACK_NAME = /^[\w.-]{1,100}$/;

/** Tags of this host: no update here needs what one of the other host has kept. The note has its origin. */
function receivedTags({ hostname, tags, time }: Description): string[] {
  const { stack, note } = readTags({ tags });
  const origin = `${hostname.slice(0, 100)}, ${time.slice(0, 19)}`.replaceAll(/\p{Cc}/gu, "-");
  return tagsOf({
    stack: stack !== null && STACK_NAME.test(stack) ? stack : null,
    reason: "manual",
    isReceived: true,
    note: note === null ? `from ${origin}` : `${note} (from ${origin})`,
  });
}
