/**
 * Limits of what is read from a repository, because others may have written its files.
 *
 * @module
 */

/** Bytes of the JSON of a config, key, lock or snapshot file. */
export const JSON_FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes of the JSON of an index file. restic's have at most 50,000 blobs in 8 MiB. */
export const INDEX_FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of a tree: about 350,000 files in one directory, or a file of 2 TB. */
export const TREE_BYTES_MAX = 128 * 1024 * 1024;

/** Bytes of a data blob: the chunker's limit of 8 MiB, and room for other programs. */
export const DATA_BYTES_MAX = 32 * 1024 * 1024;

/** Directories in each other. */
export const DEPTH_MAX = 1_000;

/** Bytes of one name. Linux has 255, others up to 255 characters of 4 bytes. */
export const NAME_BYTES_MAX = 1_024;

/** Files of one kind but `data`. */
export const FILES_MAX = 1_000_000;

/** Files of the kind `data`: 20 TB of the small packs of older programs. */
export const PACKS_MAX = 4_000_000;

/**
 * Blobs of all index files, which take 1 GB of memory: some 16 TB of large files, or 0.8 TB of files of
 * 50 KB. More would double the memory, which grows in powers of two.
 */
export const BLOBS_MAX = 2 ** 24;

/** Characters of the texts of all snapshots, which are in memory at a time. Most have fewer than 500. */
export const SNAPSHOT_TEXT_MAX = 256 * 1024 * 1024;
