import { equal } from "node:assert/strict";
import { hostname } from "node:os";
import { findParent } from "../../../../services/backup/trees/parent.ts";
import { createMemoryStorage } from "../../../helpers/memory_storage.ts";
import { description, entriesOf, newRepository, signal } from "../../../helpers/repository.ts";

Deno.test("the parent is the newest snapshot of this host with most of the paths", async () => {
  const storage = createMemoryStorage();
  let time = 0;
  const repository = await newRepository(storage, () => new Date(time += 1_000));
  const back = async (paths: string[], changes = {}) => {
    const options = { ...description, hostname: hostname(), paths, ...changes };
    return (await repository.backup(entriesOf([]), options, signal)).snapshot.id;
  };
  const parentOf = (paths: string[], volumesPath: string | null = "/volumes") =>
    findParent(
      { config: { volumesPath }, server: { id: "1", name: "host" } },
      repository,
      paths,
      signal,
    );

  equal(await parentOf(["/volumes/a"]), undefined);
  await back(["/volumes/a", "/volumes/b"]);
  const both = await back(["/volumes/a", "/volumes/b"]);
  const one = await back(["/volumes/a"]);
  await back(["/volumes/a"], { hostname: "other" });
  await back(["/volumes/a"], { tags: ["theirs"] });

  equal(await parentOf(["/volumes/a", "/volumes/b"]), both);
  equal(await parentOf(["/volumes/a"]), one);
  equal(await parentOf(["/volumes/c"]), undefined);
  equal(await parentOf(["/volumes/a"], null), undefined);
  storage.onCall(({ kind }) => kind === "snapshots" ? "fails" : undefined);
  equal(await parentOf(["/volumes/a"]), undefined);
});
