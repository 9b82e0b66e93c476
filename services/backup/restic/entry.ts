/**
 * Entries of a directory tree, as they come from a volume or go back to it.
 *
 * @module
 */

/**
 * Text whose characters are bytes (0 to 255), because names of files are bytes. Comparing two with
 * `<` compares bytes. `Buffer.from(text, "latin1")` has the bytes, `buffer.latin1Slice()` the text.
 */
export type ByteString = string;

/** Types of entries, by restic's names. */
export type EntryType = "file" | "dir" | "symlink" | "fifo" | "socket" | "dev" | "chardev";

/** Extended attribute, e.g. `security.capability`. */
export interface Xattr {
  name: string;
  value: Uint8Array;
}

/** File, directory or other node of a tree. */
export interface Entry {
  /** Relative path: `/` between names, no leading slash, no `.` or `..`. */
  path: ByteString;
  type: EntryType;
  /** Permission bits with set-id and sticky bits (POSIX 07777). */
  mode: number;
  uid: number;
  gid: number;
  user?: string;
  group?: string;
  /** Nanoseconds since 1970, negative before. */
  mtime: bigint;
  /** Bytes of a file, otherwise 0. */
  size: number;
  /** Target of a symbolic link. */
  linkTarget?: ByteString;
  /** Path of an earlier entry of this tree that is the same file; such an entry has no content. */
  hardLinkTo?: ByteString;
  /** Device number (`st_rdev`) of `dev` and `chardev`. */
  device?: number;
  xattrs?: Xattr[];
  /**
   * Identity of a file that is read directly. A file whose size, `mtime`, `inode` and `ctime` are
   * those of the parent snapshot is not read again; without an inode it always is.
   */
  inode?: bigint;
  /** Nanoseconds since 1970, with `inode`. */
  ctime?: bigint;
  /**
   * Content of a file, in pieces of any size. It is consumed before the next entry is requested,
   * or not at all. A piece that fills its buffer is the consumer's, which may move it to another
   * thread; the producer must not change the bytes of others afterwards.
   */
  content?: AsyncIterable<Uint8Array>;
}

/**
 * Entries of a tree: a directory before its content, and all content of a directory before the next
 * entry outside of it. Names of a directory may come in any order. Missing parents are added.
 */
export type Entries = AsyncIterable<Entry>;
