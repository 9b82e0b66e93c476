/**
 * Storage of a restic repository's files: a directory, S3 or a REST server.
 *
 * @module
 */

/**
 * Kinds of files of a repository. Each is a directory of restic's layout (`data` with its
 * two-letter subdirectories); `config` is one file, whose name is `config` too.
 */
export type FileKind = "config" | "keys" | "locks" | "snapshots" | "index" | "data";

/**
 * Reasons of failures. `exists`: a file of the name with other bytes is there. `forbidden`: the
 * target refuses by permission, also a removal at an append-only target. `unreachable`: no answer,
 * after retries. `damaged`: the answer contradicts its length or checksum.
 */
export type StorageReason =
  | "not_found"
  | "exists"
  | "full"
  | "forbidden"
  | "unreachable"
  | "damaged"
  | "failed";

/** Failure of a target, with a message that a person can act on. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  constructor(readonly reason: StorageReason, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Size and name of a stored file. */
export interface StoredFile {
  name: string;
  /** Bytes. */
  size: number;
}

/** Range of a file in bytes. */
export interface ByteRange {
  offset: number;
  length: number;
}

/**
 * Files of a repository. Names are 64 hexadecimal digits, or `config`. All methods throw
 * {@linkcode StorageError}, or the signal's reason when it is aborted.
 */
export interface Storage {
  /** Files that are visible whole, in any order. A kind without a file is empty, not an error. */
  list(kind: FileKind, signal: AbortSignal): AsyncIterable<StoredFile>;

  /**
   * The whole file, or `length` bytes from `offset`; never fewer (`damaged`). The caller owns the
   * bytes.
   */
  read(kind: FileKind, name: string, signal: AbortSignal, range?: ByteRange): Promise<Uint8Array>;

  /**
   * Writes a file that is visible whole or not at all, and survives a power failure once this
   * returns. An existing file of the name is an error, except where it has the same bytes. The
   * bytes must not be changed until this returns.
   */
  write(kind: FileKind, name: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>;

  /** Removes a file; one that does not exist is not an error. */
  remove(kind: FileKind, name: string, signal: AbortSignal): Promise<void>;

  /**
   * SHA-256 (64 hexadecimal digits) that the target computed over the bytes as it stored them.
   * Without this method, or when it gives `undefined`, a written file is read back.
   */
  checksum?(kind: FileKind, name: string, signal: AbortSignal): Promise<string | undefined>;

  /** Room that is left in bytes, where the target can say so. */
  room?(signal: AbortSignal): Promise<number | undefined>;
}
