import { equal, rejects } from "node:assert/strict";
import { createPeer, type Message } from "../../../../services/backup/restic/worker_peer.ts";
import { startRepository } from "../../../../services/backup/restic/worker_repository.ts";
import { createMemoryStorage } from "../../../helpers/memory_storage.ts";
import { description, directoryEntry, optionsOf, signal } from "../../../helpers/repository.ts";

/** Opens, requests the first entries of a backup, and crashes. */
const CRASHING = `
  postMessage("started");
  onmessage = ({ data: { kind, id, method, args } }) => {
    if (kind === "result") throw new Error("crash");
    const opened = { id: "1", version: 2, openedKeys: new Map() };
    if (method === "open") postMessage({ kind: "result", id, value: opened });
    if (method === "backup") {
      postMessage({ kind: "call", id: 1, method: "next", args: [args[0].key, undefined] });
    }
  };`;

Deno.test("a worker that crashes closes what it was reading, and later calls fail", async () => {
  const script = new URL(`data:text/javascript,${encodeURIComponent(CRASHING)}`);
  const options = { ...optionsOf(createMemoryStorage()), creates: false };
  using repository = await startRepository(script, options, signal);
  const closed = Promise.withResolvers<void>();
  const entries = async function* () {
    try {
      for (let n = 0;; n++) yield directoryEntry(`d${n}`);
    } finally {
      closed.resolve();
    }
  };
  await rejects(repository.backup(entries(), description, signal), /The worker .* failed/);
  await closed.promise;
  await rejects(repository.snapshots(signal), /The worker .* failed/);
});

/** Two connected sides, and the messages between them. */
function createPeers(methods: Parameters<typeof createPeer>[1]) {
  const sent: Message[] = [];
  const receivers: ((message: Message) => void)[] = [];
  const portOf = (own: number) => ({
    send(message: Message, transfer: ArrayBuffer[]) {
      const received = structuredClone(message, { transfer });
      sent.push(received);
      queueMicrotask(() => receivers[1 - own]!(received));
    },
    listen: (receive: (message: Message) => void) => void (receivers[own] = receive),
  });
  const caller = createPeer(portOf(0), {});
  createPeer(portOf(1), methods);
  return { caller, sent };
}

Deno.test("pieces of a stream are sent in batches of about 1 MiB, without the rest of a buffer", async () => {
  const buffer = new Uint8Array(600_000);
  const { caller, sent } = createPeers({
    async *read() {
      for (let n = 0; n < 6; n++) yield new Uint8Array(600_000).fill(n);
      for (let n = 0; n < 3; n++) yield { bytes: buffer.subarray(n, n + 10) };
    },
  });
  let bytes = 0;
  for await (const item of await caller.call("read", []) as AsyncIterable<unknown>) {
    const piece = item instanceof Uint8Array ? item : (item as { bytes: Uint8Array }).bytes;
    equal(piece.buffer.byteLength, piece.length);
    bytes += piece.length;
  }
  equal(bytes, 6 * 600_000 + 30);
  const batches = sent.flatMap((message) => {
    const { items } = (message.kind === "result" ? message.value ?? {} : {}) as {
      items?: unknown[];
    };
    return items === undefined ? [] : [items.length];
  });
  equal(batches.join(), "2,2,2,3");
});
