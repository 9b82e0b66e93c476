/** Limits of expensive requests. @module */

import { createFairLimiter } from "./fair_limiter.ts";
import { createShares } from "./shares.ts";
import { AppError } from "../errors.ts";
import { createLimiter } from "../limiter.ts";

export type Limiters = ReturnType<typeof createLimiters>;

export const createLimiters = () => ({
  /** One at a time: each needs the space of a copy. */
  backupDownloads: createLimiter({
    what: "backups",
    running: 1,
    waiting: 0,
    busy: () => new AppError("conflict", "A backup is already being downloaded"),
  }),
  /** One at a time: the repository of a new one is created after its location was checked. */
  backupTargets: createLimiter({ what: "changes of backup targets", running: 1, waiting: 8 }),
  /** Each starts a worker, and derives a key from a password. */
  snapshotReads: createFairLimiter({ what: "reads of snapshots", running: 4, waiting: 32 }),
  /** Each has a worker for as long as the client takes. */
  snapshotDownloads: createShares({ what: "downloads of snapshots", max: 6 }),
  /** Each may start a container. */
  fileRequests: createFairLimiter({ what: "requests for files", running: 6, waiting: 32 }),
  /** Each has a container or a command for as long as the client takes. */
  fileTransfers: createShares({ what: "transfers of files", max: 8 }),
  commands: createFairLimiter({ what: "commands", running: 16, waiting: 64 }),
  /** Comparisons of a container's files with its image. */
  fileComparisons: createFairLimiter({ what: "file comparisons", running: 2, waiting: 16 }),
  /** Each log takes up to 32 MiB while it is read. */
  logReads: createFairLimiter({ what: "log reads", running: 8, waiting: 128 }),
  /** Each holds a connection to the engine for as long as the client takes. */
  logDownloads: createShares({ what: "log downloads", max: 8 }),
  /** Each holds a connection to the engine for as long as the client takes. */
  hostLogStreams: createShares({ what: "streams of hosts' logs", max: 64 }),
  serviceLogStreams: createShares({ what: "streams of services' logs", max: 64 }),
  /** Bodies of more than 1 MiB. */
  largeBodies: createShares({ what: "large request bodies", max: 6 }),
  logSearches: createFairLimiter({ what: "log searches", running: 4, waiting: 32 }),
  /** The engine may copy an image first. One caller gets half. */
  imageExports: createShares({ what: "image exports", max: 8 }),
  /** One at a time, so that no other request writes between a check and the write after it. */
  projectFiles: createLimiter({
    what: "requests for project directories",
    running: 1,
    waiting: 64,
  }),
  /** Parallel searches take turns, so that together they block the event loop no longer than one. */
  searchSlices: createLimiter({ what: "search slices", running: 1, waiting: Infinity }),
});
