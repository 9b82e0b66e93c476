/** The size of a database file, and the space that deleted rows left in it. @module */

import type { Database } from "./database.ts";

/** Bytes of a database file, and how many of them are free for new rows. */
interface FileSize {
  bytes: number;
  freeBytes: number;
}

/** Does not read the file: SQLite stores both counts in the header. */
export function selectFileSize(db: Database): FileSize {
  const size = db.get<{ page_size: number }>("PRAGMA page_size")!.page_size;
  return {
    bytes: size * db.get<{ page_count: number }>("PRAGMA page_count")!.page_count,
    freeBytes: size * db.get<{ freelist_count: number }>("PRAGMA freelist_count")!.freelist_count,
  };
}

/** Maximum pages to release at once: moving each takes time. */
const RELEASED_MAX = 64;

/**
 * Returns free pages to the file system if there are more than new rows will soon need.
 *
 * @param keep Number of pages to keep free.
 */
export function releaseFreePages(db: Database, { keep }: { keep: number }): void {
  const free = db.get<{ freelist_count: number }>("PRAGMA freelist_count")!.freelist_count;
  // all(), because the statement frees one page with each row that is read.
  if (free > keep) db.all(`PRAGMA incremental_vacuum(${RELEASED_MAX})`);
}
