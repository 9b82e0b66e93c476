/** Archives of images that others have put into a snapshot. @module */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { imageImport, imageSave } from "../../engine/image_archives.ts";
import { archiveOf } from "../../services/compose/deploy/files.ts";
import type { Repository } from "../../services/backup/restic/repository.ts";
import { loadSaved } from "../../services/snapshots/saved_images.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { sleeper } from "../helpers/test_stack.ts";

const VICTIM = "longshore-test/victim:1";
const job = { progress() {}, signal: new AbortController().signal };

for (const [name, test] of [["Docker", engineTest], ["Podman", long(podmanTest)]] as const) {
  test(`an archive of a snapshot cannot rename images of ${name}`, renameAttempt);
}

async function renameAttempt(real: RealEngine): Promise<void> {
  await using app = await liveApp(real.socketPath);
  const { engine } = app.deps;
  const idOf = (name: string) => real.docker("inspect", "--format={{.Id}}", name);
  const files = archiveOf(
    [{ path: "/evil", text: "yes", mode: 0o644, uid: 0, gid: 0 }],
    new Date(),
  );
  await imageImport(engine, { name: VICTIM, archive: files });
  const recorded = await idOf(VICTIM);
  const archive = await new Response(ReadableStream.from((await imageSave(engine, VICTIM)).body))
    .bytes();
  match(new TextDecoder().decode(archive), /longshore-test\/victim:1/);
  await real.docker("rmi", VICTIM);
  await real.docker("tag", sleeper.image, VICTIM);

  const load = (bytes: Uint8Array) => {
    const readFile = async function* () {
      yield bytes;
    };
    const source = { repository: { readFile } as unknown as Repository, snapshot: "1" };
    return loadSaved(app.deps, source, { recorded, reference: "shop/app:1" }, job);
  };
  deepEqual(await load(archive), { imageId: recorded, isNew: true });
  equal(await idOf(VICTIM), await idOf(sleeper.image));
  await real.docker("rmi", recorded);
  await rejects(load(archive.subarray(0, archive.length / 2)), {
    code: "conflict",
    message: /^Image shop\/app:1 could not be loaded from the snapshot: the archive ended early$/,
  });
  await real.docker("rmi", VICTIM);
}
