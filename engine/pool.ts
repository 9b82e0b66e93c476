/** The pool of idle connections. @module */

import type { Connection } from "./http.ts";

/** Keeps idle connections for a limited time and reuses the last used one first. */
export class Pool {
  readonly #idle: Connection[] = [];
  readonly #idleMs: number;
  readonly #max: number;
  readonly #now: () => number;
  #sweep: ReturnType<typeof setTimeout> | undefined;

  constructor({ idleMs, max, now }: { idleMs: number; max: number; now: () => number }) {
    this.#idleMs = idleMs;
    this.#max = max;
    this.#now = now;
  }

  take(): Connection | undefined {
    const connection = this.#idle.pop();
    if (!connection || this.#now() - connection.idleSince < this.#idleMs) return connection;
    // It is the newest: all others are too old as well.
    connection.close();
    this.clear();
    return undefined;
  }

  /** Keeps a connection whose response was read in full, or closes it. */
  give(connection: Connection): void {
    if (connection.isClosed) return;
    connection.responses++;
    // Unrequested bytes would be taken for the next response.
    if (connection.reader.buffered > 0 || this.#idle.length >= this.#max) {
      connection.close();
      return;
    }
    connection.idleSince = this.#now();
    this.#idle.push(connection);
    this.#startSweep();
  }

  /** Closes all idle connections. The pool remains usable. */
  clear(): void {
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  #startSweep(): void {
    if (this.#sweep !== undefined) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      const oldest = this.#now() - this.#idleMs;
      const fresh = this.#idle.findIndex(({ idleSince }) => idleSince > oldest);
      for (const connection of this.#idle.splice(0, fresh < 0 ? Infinity : fresh)) {
        connection.close();
      }
      if (this.#idle.length > 0) this.#startSweep();
    }, this.#idleMs);
    // Idle connections must not keep the process running.
    Deno.unrefTimer(this.#sweep);
  }
}
