/**
 * Entries as one stream of parts, which can be read ahead and sent to another thread: each entry is
 * followed by the pieces of its content.
 *
 * @module
 */

import type { Entries, Entry } from "./entry.ts";

/**
 * Part of a stream. After an entry with an inode and content may come `isAsked`: the consumer's
 * answer says whether it needs the content.
 */
export type EntryPart =
  | { entry: Omit<Entry, "content">; hasContent?: boolean }
  | { bytes: Uint8Array }
  | { isAsked: true };

/** Parts, each of which gets the answer to the one before. */
export type EntryParts = AsyncGenerator<EntryPart, void, boolean | undefined>;

/**
 * Splits entries into parts.
 *
 * @param asks Whether the consumer may leave out the content of files. Each question takes the time
 * of an answer.
 */
export async function* toParts(entries: Entries, { asks }: { asks: boolean }): EntryParts {
  for await (const { content, ...entry } of entries) {
    yield { entry, hasContent: content !== undefined };
    if (content === undefined) continue;
    if (asks && entry.inode !== undefined && !(yield { isAsked: true })) continue;
    for await (const bytes of content) yield { bytes };
  }
}

/** Joins parts to entries. Content that the consumer does not read is skipped. */
export async function* fromParts(parts: EntryParts): Entries {
  let part = await parts.next();
  const isContent = () => !part.done && !("entry" in part.value);
  async function* readContent() {
    part = await parts.next();
    while (!part.done && !("entry" in part.value)) {
      if ("bytes" in part.value) yield part.value.bytes;
      part = await parts.next(true);
    }
  }
  try {
    while (!part.done) {
      const current = part;
      if (!("entry" in current.value)) throw new TypeError("Content comes before its entry");
      const { entry, hasContent = entry.type === "file" && entry.hardLinkTo === undefined } =
        current.value;
      yield hasContent ? { ...entry, content: readContent() } : entry;
      if (part === current) part = await parts.next(false);
      while (isContent()) part = await parts.next(false);
    }
  } finally {
    await parts.return();
  }
}
