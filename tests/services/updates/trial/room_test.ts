import { equal, rejects } from "node:assert/strict";
import type { Entry } from "../../../../services/backup/restic/entry.ts";
import { whileThereIsRoom } from "../../../../services/updates/trial/room.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";

Deno.test("copies end before a file that does not fit", async () => {
  await using fake = fakeEngine({ "GET /info": () => Response.json({ DockerRootDir: "/" }) });
  const file = (size: number): Entry => ({
    ...{ path: "file", type: "file", mode: 0o644, uid: 0, gid: 0, mtime: 0n },
    size,
  });
  const link = { ...file(2 ** 60), hardLinkTo: "file" };
  const copied = whileThereIsRoom(fake, ReadableStream.from([file(1), link, file(2 ** 60)]));
  equal((await copied.next()).value?.size, 1);
  equal((await copied.next()).value, link, "a name takes no room");
  await rejects(copied.next(), { code: "conflict", message: /^The copies need/ });
});
