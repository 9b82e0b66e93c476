/** Two ends of a WebSocket without a network. @module */

import type { MessageSocket } from "../../services/fleet/link/connection.ts";

interface Events {
  message: { data: unknown };
  close: { reason: string };
  error: undefined;
}

class MemorySocket implements MessageSocket {
  binaryType = "";
  bufferedAmount = 0;
  peer: MemorySocket | undefined;
  /** Changes a message on its way; `undefined` drops it. */
  alter: (data: Uint8Array<ArrayBuffer>) => unknown = (data) => data.buffer;
  #listeners: { type: string; listener: (event: never) => void }[] = [];

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.push({ type, listener });
  }

  send(data: Uint8Array<ArrayBuffer>): void {
    const sent = this.alter(data.slice());
    if (sent !== undefined) this.peer?.emit("message", { data: sent });
  }

  close(_code?: number, reason = ""): void {
    this.emit("close", { reason });
    this.peer?.emit("close", { reason });
    this.peer = undefined;
  }

  emit<Type extends keyof Events>(type: Type, event: Events[Type]): void {
    queueMicrotask(() => {
      for (const each of this.#listeners) if (each.type === type) each.listener(event as never);
    });
  }
}

export function createSocketPair(): [MemorySocket, MemorySocket] {
  const [first, second] = [new MemorySocket(), new MemorySocket()];
  first.peer = second;
  second.peer = first;
  return [first, second];
}
