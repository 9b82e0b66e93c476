import { equal, rejects, throws } from "node:assert/strict";
import {
  assertKept,
  keepUndone,
  untilAnswered,
  withoutText,
  writtenOf,
} from "../../../../services/backup/trees/keep.ts";
import { RepositoryError } from "../../../../services/backup/restic/repository_error.ts";
import { translated } from "../../../../services/backup/targets/repository.ts";
import { createSkipped } from "../../../../services/backup/trees/store.ts";
import { createSkipList } from "../../../../services/backup/volumes/limits.ts";

/** Skipped entries of a volume: a number of them without content, then those with the reasons. */
function skippedOf(number: number, ...reasons: string[]) {
  const list = createSkipList();
  for (let index = 0; index < number; index++) list.add(`${index}`, "is a FIFO");
  for (const reason of reasons) list.add("last", reason);
  const skipped = createSkipped();
  skipped.add("/volumes/first", list);
  skipped.add("/volumes/second", list);
  return skipped.result();
}

const CHANGED = "changed while it was read";

for (const number of [0, 100, 1000]) {
  Deno.test(`assertKept() sees what is lost behind ${number} entries without content`, () => {
    const lost = skippedOf(number, ...Array(number).fill(CHANGED), "is a device node");
    equal(lost.skippedCount, 2 * (2 * number + 1));
    equal(lost.skipped.length, Math.min(lost.skippedCount, 100));
    for (const isLive of [true, false]) {
      throws(
        () => assertKept(lost, { isLive }),
        /^AppError: \/volumes\/first\/last cannot be kept: it is a device node; move it elsewhere, or delete it$/,
      );
    }
    assertKept(skippedOf(number, "is a socket"));
    assertKept(skippedOf(number, CHANGED), { isLive: true });
    throws(() => assertKept(skippedOf(number, CHANGED)), /changed while it was read/);
  });
}

Deno.test("an undo leaves nodes out of what was written, and nothing else", async () => {
  const undo = (...reasons: string[]) => {
    const stored = { ...skippedOf(1, ...reasons), snapshot: "1", files: 0, size: 0, added: 0 };
    return keepUndone(() => Promise.resolve(stored), new AbortController().signal);
  };
  const written = await undo("is a device node");
  equal(written.skipped[0]!.path, "/volumes/first/last");
  equal(withoutText(written), ", without 4 files that cannot be stored");
  equal(withoutText(writtenOf("an earlier version's")!), "");
  for (const reason of [CHANGED, "is on another file system"]) {
    await rejects(undo(reason), /\/volumes\/first\/last cannot be kept/);
    const behindNodes = undo(...Array(1000).fill("is a device node"), reason);
    await rejects(behindNodes, new RegExp(`cannot be kept: it ${reason}`));
  }
});

Deno.test("assertKept() is not misled by the name of an attribute", () => {
  throws(() => assertKept(skippedOf(0, 'has the attribute "user.socket"')), /cannot be kept/);
});

for (const [reason, attempts] of [["absent", 2], ["damaged", 1]] as const) {
  Deno.test(`a target that is ${reason} is tried ${attempts === 2 ? "again" : "once"}`, async () => {
    const controller = new AbortController();
    let count = 0;
    const work = () => {
      count++;
      // Ends the pause.
      controller.abort();
      const failure = new RepositoryError(count === 1 ? reason : "damaged", reason);
      return translated(() => Promise.reject(failure));
    };
    await rejects(untilAnswered(work, controller), { code: "conflict" });
    equal(count, attempts);
  });
}
