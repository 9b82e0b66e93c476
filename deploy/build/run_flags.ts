/**
 * The permissions and runtime flags of the program. They are defined once, in the task `start` of
 * `deno.json`; builds, tests and benchmarks read them here. Run as a script it prints them.
 *
 * Permissions of the program, and the reasons:
 *
 * - No programs, no native code, no imports from outside.
 * - `net`, `read` and `write` are not narrowed: addresses and paths are the operator's to configure.
 * - `sys`: host name, kernel, load, memory, processors, uptime, disks, user id (where a rootless
 *   engine listens) and file mask. The mask cannot be granted by name, so the rest is denied instead.
 * - `v8-flags`: a small space for young objects, and old objects are collected when they have grown
 *   by 15 % (and 8 MB) instead of up to 300 %. `ARCHITECTURE.md` has what each flag gives.
 * - `unstable-net`: the datagram socket for systemd's "ready" notification.
 * - `unstable-no-legacy-abort`: a request is aborted only when its client disconnects.
 * - `unstable-lazy-dynamic-imports`: without it the runtime reads every file of the program before it
 *   runs the first.
 *
 * @module
 */

import config from "../../deno.json" with { type: "json" };

/** Words of the task `start` that do not belong to an executable. */
const SOURCE_ONLY = ["deno", "run", "--frozen", "main.ts"];

/** The flags, each one word, e.g. `--allow-net`. */
export const RUN_FLAGS: readonly string[] = config.tasks.start.command.split(" ")
  .filter((word) => !SOURCE_ONLY.includes(word));

if (import.meta.main) console.log(RUN_FLAGS.join(" "));
