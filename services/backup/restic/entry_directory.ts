/** Entries in another directory. @module */

import { Buffer } from "node:buffer";
import type { ByteString, Entries, Entry } from "./entry.ts";

/** Entries with paths below a directory; the entry with the path "" becomes the directory itself. */
export async function* entriesBelow(
  directory: ByteString,
  entries: Entries,
): Entries & AsyncGenerator<Entry> {
  const join = (path: ByteString) => path === "" ? directory : `${directory}/${path}`;
  for await (const entry of entries) {
    yield {
      ...entry,
      path: join(entry.path),
      ...(entry.hardLinkTo !== undefined && { hardLinkTo: join(entry.hardLinkTo) }),
    };
  }
}

export const bytesOf = (path: string): ByteString => Buffer.from(path, "utf8").toString("latin1");
