/** Images of snapshots: loaded within the room of the disk, and told from those that the host had. */

import { deepEqual, rejects } from "node:assert/strict";
import type { Repository } from "../../../services/backup/restic/repository.ts";
import { createSkipList } from "../../../services/backup/volumes/limits.ts";
import { writeTar } from "../../../services/backup/volumes/tar_writer.ts";
import { loadSaved } from "../../../services/snapshots/saved_images.ts";
import { removeBrought } from "../../../services/snapshots/drills/images.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { entriesOf, fileEntry, type TestEntry } from "../../helpers/repository.ts";
import { testApp } from "../../helpers/test_app.ts";

const RECORDED = `sha256:${"1".repeat(64)}`;
const OTHER = `sha256:${"2".repeat(64)}`;

const job = { progress() {}, signal: new AbortController().signal };

/** Loads an archive into an engine, which gives its image another id. */
async function load(had: readonly string[], entry: TestEntry, root = "/") {
  await using fake = fakeEngine({
    "GET /info": () => Response.json({ DockerRootDir: root }),
    "GET /images/json": () => Response.json(had.map((Id) => ({ Id }))),
    "POST /images/load": () => Response.json({ stream: `Loaded image ID: ${OTHER}\n` }),
    "GET /images/*/json": ({ parts: [id] }) =>
      decodeURIComponent(id!) === OTHER
        ? Response.json({ Id: OTHER })
        : Response.json({ message: "No such image" }, { status: 404 }),
  });
  using app = testApp({ engine: fake.engine });
  const options = { root: "", skipped: createSkipList(), xattrs: /x/, check() {} };
  const repository = { readFile: () => writeTar(entriesOf([entry]), options) };
  const source = { repository: repository as unknown as Repository, snapshot: "1" };
  const loaded = await loadSaved(
    app.deps,
    source,
    { recorded: RECORDED, reference: "shop/app:1" },
    job,
  );
  const missing = { [RECORDED]: { image: "shop/app:1", digests: [], isSaved: true } };
  const { imageId, isNew } = loaded;
  await removeBrought(app.deps, missing, {
    ids: { [RECORDED]: imageId },
    known: isNew ? [] : [imageId],
  });
  return {
    loaded,
    removed: fake.requests.filter((each) => each.startsWith("DELETE")).map(decodeURIComponent),
  };
}

const manifest = fileEntry("manifest.json", "[]");

Deno.test("a loaded image that the host had under another id is not removed after a drill", async () => {
  deepEqual(await load([OTHER], manifest), {
    loaded: { imageId: OTHER, isNew: false },
    removed: [],
  });
  deepEqual(await load([], manifest), {
    loaded: { imageId: OTHER, isNew: true },
    removed: [`DELETE /images/${OTHER}`],
  });
});

Deno.test("an archive that is larger than the engine's disk is refused by its first header", async () => {
  // No file system has room in /proc.
  await rejects(load([], { ...fileEntry("layer.tar", "x"), size: 2 ** 30 }, "/proc"), {
    code: "conflict",
    message: /^Image shop\/app:1 could not be loaded from the snapshot: it needs 1 GiB, and/,
  });
});
