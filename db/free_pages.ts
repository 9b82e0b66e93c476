/**
 * Room in a database file that deleted rows have left behind.
 *
 * @module
 */

import type { Database } from "./database.ts";

/** Bytes of a database file, and how many of them are free for new rows. */
export interface FileSize {
  bytes: number;
  freeBytes: number;
}

/** Without reading the file: SQLite keeps both counts in its head. */
export function selectFileSize(db: Database): FileSize {
  const size = db.get<{ page_size: number }>("PRAGMA page_size")!.page_size;
  return {
    bytes: size * db.get<{ page_count: number }>("PRAGMA page_count")!.page_count,
    freeBytes: size * db.get<{ freelist_count: number }>("PRAGMA freelist_count")!.freelist_count,
  };
}

/** Pages that are given back at a time: each is moved, which takes time. */
const PORTION = 64;

/**
 * Gives some free pages back to the file system, when there are more than new rows will soon need.
 *
 * @param keep Pages that may stay free.
 */
export function releaseFreePages(db: Database, { keep }: { keep: number }): void {
  const free = db.get<{ freelist_count: number }>("PRAGMA freelist_count")!.freelist_count;
  // A statement that is read to its end, for it frees one page with each row of its result.
  if (free > keep) db.all(`PRAGMA incremental_vacuum(${PORTION})`);
}
