/**
 * The last log lines of containers that crashed a moment ago or failed in an update, for the messages
 * about them.
 *
 * @module
 */

/** By the id of the event about the crash, or of the update's job. */
export type CrashLines = Map<string, readonly string[]>;

/** Crashes whose lines are kept; they are needed for seconds. */
const CRASHES_MAX = 100;

/** Keeps the lines of a crash, instead of those of the oldest one if there are too many. */
export function keepCrashLines(crashes: CrashLines, eventId: string, lines: readonly string[]) {
  if (crashes.size >= CRASHES_MAX) crashes.delete(crashes.keys().next().value!);
  crashes.set(eventId, lines);
}
