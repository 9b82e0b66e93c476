/** Archives of images that others have put into a snapshot. @module */

import { equal, match, rejects } from "node:assert/strict";
import { imageSave } from "../../engine/image_archives.ts";
import type { Repository } from "../../services/backup/restic/repository.ts";
import { loadSaved } from "../../services/snapshots/saved_images.ts";
import { liveApp } from "../helpers/live_app.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { sleeper } from "../helpers/test_stack.ts";

const VICTIM = "longshore-test/victim:1";
const job = { progress() {}, signal: new AbortController().signal };

engineTest("an archive of a snapshot cannot rename images of the host", async (real) => {
  await using app = await liveApp(real.socketPath);
  const { engine } = app.deps;
  const idOf = (name: string) => real.docker("inspect", "--format={{.Id}}", name);
  const base = await real.docker("create", sleeper.image);
  await real.docker("commit", "--change=LABEL evil=yes", base, VICTIM);
  await real.docker("rm", base);
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
  equal(await load(archive), recorded);
  equal(await idOf(VICTIM), await idOf(sleeper.image));
  await real.docker("rmi", recorded);
  await rejects(load(archive.subarray(0, archive.length / 2)), {
    code: "conflict",
    message: /^Image shop\/app:1 could not be loaded from the snapshot: the archive ended early$/,
  });
  await real.docker("rmi", VICTIM);
});
