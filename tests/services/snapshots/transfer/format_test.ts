import { deepEqual, rejects } from "node:assert/strict";
import { archived, openArchived } from "../../../../services/snapshots/transfer/format.ts";
import {
  directoryEntry,
  entriesOf,
  fileEntry,
  type TestEntry,
} from "../../../helpers/repository.ts";

const id = "40dc1520".repeat(8);

/** Receives an archive. @returns Paths of its tree. */
async function received(paths: string[], entries: TestEntry[]): Promise<string[]> {
  const described = { id, time: "2026-01-01T12:00:00Z", hostname: "edge", paths, tags: [] };
  const archive = archived(described, entriesOf(entries));
  const { tree } = await openArchived(archive, { snapshot: id, size: null });
  return (await Array.fromAsync(tree)).map(({ path }) => path);
}

Deno.test("no other host sends a backup of Longshore itself, which a restore would take for its own", async () => {
  const volume = ["volumes", "volumes/data"].map(directoryEntry);
  const own = [directoryEntry("longshore"), fileEntry("longshore/longshore.backup", "forged")];
  deepEqual(await received(["/volumes/data"], volume), ["volumes", "volumes/data"]);
  for (
    const [paths, entries] of [
      [["/longshore"], own],
      [["/longshore"], []],
      [["/volumes/data"], [...own, ...volume]],
    ] as const
  ) {
    await rejects(received([...paths], [...entries]), /a backup of Longshore itself/);
  }
});
