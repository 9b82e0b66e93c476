/** Index that is kept between operations, as long as its files stay. @module */

import type { Id } from "./id.ts";
import { loadIndexFile } from "./index_file.ts";
import { createMasterIndex, type MasterIndex } from "./master_index.ts";
import { listFiles, type RepositoryFiles } from "./repository_files.ts";

export function createIndexCache(files: RepositoryFiles) {
  let loaded: { index: MasterIndex; names: Set<Id> } | undefined;

  const load = async (signal: AbortSignal): Promise<MasterIndex> => {
    const names = new Set<Id>();
    for await (const { name } of listFiles(files.storage, "index", signal)) names.add(name);
    // Files that are gone were superseded by a prune, and their packs may be gone, too.
    const isSuperseded = !loaded?.names.isSubsetOf(names);
    const { index, names: known } = isSuperseded
      ? { index: createMasterIndex(), names: new Set<Id>() }
      : loaded!;
    loaded = undefined;
    for (const name of names) if (!known.has(name)) await loadIndexFile(files, index, name, signal);
    loaded = { index, names };
    return index;
  };

  let loading: Promise<unknown> = Promise.resolve();
  return {
    /** The index with all files that are there now. */
    get(signal: AbortSignal): Promise<MasterIndex> {
      const result = loading.catch(() => {}).then(() => load(signal));
      loading = result.catch(() => {});
      return result;
    },
    /** Frees the memory. */
    drop(): void {
      loaded = undefined;
    },
  };
}
