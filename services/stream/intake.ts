/**
 * Holds back the bytes of a connection while the body of its request is not being read. The runtime
 * reads up to 64 KiB from a connection for each piece of a chunked body (RFC 9112, section 7.1), and
 * keeps what it did not need: without a limit, an upload to a slow reader fills the memory, and the
 * runtime moves all of it for each piece.
 *
 * @module
 */

/** Decides when bytes of one connection are passed on to the runtime. */
export class Intake {
  #opening: PromiseWithResolvers<void> | undefined;
  #hasEnded = false;

  /** Resolves when the next bytes may be passed on. */
  async opened(): Promise<void> {
    while (this.#opening) {
      await this.#opening.promise;
      // Bytes that the runtime has kept are delivered in this turn, and need no further ones.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** The body is being read. */
  open(): void {
    this.#opening?.resolve();
    this.#opening = undefined;
  }

  /** The reader has a piece, and needs no other one yet. */
  close(): void {
    if (!this.#hasEnded) this.#opening ??= Promise.withResolvers();
  }

  /** Lets everything pass from now on. */
  end(): void {
    this.#hasEnded = true;
    this.open();
  }
}

const intakes = new WeakMap<object, Intake>();

/** Names the intake of the connection on which a request arrives. */
export function provideIntake(request: Request, intake: Intake): void {
  intakes.set(request, intake);
}

/** `undefined` for a request whose connection the runtime reads by itself. */
export const intakeOf = (request: object): Intake | undefined => intakes.get(request);
