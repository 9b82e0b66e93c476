/** The open terminals. @module */

import { AppError } from "../../errors.ts";

/** A terminal as the registry sees it. */
interface OpenTerminal {
  /** Ends it if its caller may not use it any longer, or if it is idle. */
  check(): void;
  /** Ends it because the service stops. Resolves when its end is recorded. */
  stop(): Promise<void>;
}

/** Limit of open terminals. Each has a connection to the engine. */
const TERMINALS_MAX = 10;

export type Terminals = ReturnType<typeof createTerminals>;

/** @param options.pongTimeoutS A client that does not answer a ping for this long is disconnected. */
export function createTerminals({ pongTimeoutS = 60 } = {}) {
  const open = new Set<OpenTerminal>();
  let isClosed = false;

  /** @throws {AppError} `unavailable` if too many are open, or the service is stopping. */
  const assertFree = (): void => {
    if (isClosed) throw new AppError("unavailable", "The service is stopping");
    if (open.size >= TERMINALS_MAX) {
      throw new AppError("unavailable", `Limit of ${TERMINALS_MAX} open terminals reached`);
    }
  };

  return {
    get count() {
      return open.size;
    },
    /** The marks of the shells that run for an open terminal. */
    shells: new Set<string>(),
    pongTimeoutS,
    assertFree,
    /** @returns A function that removes it. @throws As `assertFree()`. */
    add(terminal: OpenTerminal): () => void {
      assertFree();
      open.add(terminal);
      return () => void open.delete(terminal);
    },
    check(): void {
      for (const terminal of open) terminal.check();
    },
    /** Ends all terminals and refuses new ones. Resolves when their ends are recorded. */
    async close(): Promise<void> {
      isClosed = true;
      await Promise.all([...open].map((terminal) => terminal.stop()));
    },
  };
}
