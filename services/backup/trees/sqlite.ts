/** Finds SQLite databases by their first bytes, while the files of a snapshot are read. @module */

import { Buffer } from "node:buffer";
import type { Entries, Entry } from "../restic/entry.ts";
import { bytesOf } from "../restic/entry_directory.ts";
import type { Part } from "./part.ts";

/** First bytes of a database (https://sqlite.org/fileformat.html, "The Database Header"). */
const HEADER = Buffer.from("SQLite format 3\0", "latin1");

/**
 * @param known Parts of an earlier snapshot that have databases: a file that is not read again, because
 * it has not changed, may be one of them.
 */
export function createSqliteWatch(
  parts: readonly Pick<Part, "path">[],
  known: readonly string[] = [],
) {
  const directories = parts.map(({ path }) => ({ path, prefix: bytesOf(`${path.slice(1)}/`) }));
  const found = new Set<string>();

  const isIn = (path: string) => ({ prefix }: { prefix: string }) => path.startsWith(prefix);

  async function* look(part: string, content: AsyncIterable<Uint8Array>) {
    let first = Buffer.alloc(0);
    for await (const piece of content) {
      if (first.length < HEADER.length) {
        first = Buffer.concat([first, piece.subarray(0, HEADER.length - first.length)]);
        if (first.equals(HEADER)) found.add(part);
      }
      yield piece;
    }
  }

  return {
    /** The same entries; their content is checked as it is read. */
    async *watch(entries: Entries): Entries & AsyncGenerator<Entry> {
      for await (const entry of entries) {
        const { content, path } = entry;
        const part = content && directories.find(isIn(path))?.path;
        if (!content || part === undefined || found.has(part)) {
          yield entry;
          continue;
        }
        let isRead = false;
        yield {
          ...entry,
          content: (async function* () {
            isRead = true;
            yield* look(part, content);
          })(),
        };
        if (!isRead && known.includes(part)) found.add(part);
      }
    },
    /** Paths of the parts with databases, e.g. `/volumes/shop_data`. */
    parts: (): string[] => [...found].sort(),
  };
}
