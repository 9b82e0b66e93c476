import { deepEqual, equal, ok } from "node:assert/strict";
import { drainBody } from "../../../commands/listener/unread_body.ts";

/** A request whose body comes in chunks; counts the bytes that were taken. */
function requestOf(chunks: Iterable<Uint8Array<ArrayBuffer>>, { ends = true } = {}) {
  const seen = { bytes: 0, ended: false, cancelled: false };
  const iterator = chunks[Symbol.iterator]();
  const body = new ReadableStream({
    pull(controller) {
      const { value, done } = iterator.next();
      if (value) {
        seen.bytes += value.byteLength;
        controller.enqueue(value);
      } else if (done && ends) {
        seen.ended = true;
        controller.close();
      } else {
        return new Promise<void>(() => {});
      }
    },
    cancel: () => void (seen.cancelled = true),
  }, { highWaterMark: 0 });
  return { seen, request: new Request("http://localhost/", { method: "POST", body }) };
}

const KIB = new Uint8Array(1024);

function* endless() {
  while (true) yield KIB;
}

Deno.test("an unread request body is drained", async () => {
  const { request, seen } = requestOf(Array(1_000).fill(KIB));
  await drainBody(request);
  deepEqual(seen, { bytes: 1_024_000, ended: true, cancelled: false });
});

Deno.test("a body that was read or is being read is not drained", async () => {
  const whole = requestOf([KIB]);
  await whole.request.arrayBuffer();
  await drainBody(whole.request);
  const begun = requestOf([KIB, KIB]);
  await begun.request.body!.getReader().read();
  await drainBody(begun.request);
  await drainBody(new Request("http://localhost/"));
  equal(begun.seen.bytes, 1_024);
});

Deno.test("an endless body is drained up to 8 MiB", async () => {
  const { request, seen } = requestOf(endless());
  await drainBody(request);
  ok(seen.cancelled);
  equal(seen.bytes, 8 * 1024 * 1024);
});

Deno.test("a stalled body delays the response only briefly", async () => {
  const { request, seen } = requestOf([KIB], { ends: false });
  await drainBody(request);
  ok(seen.cancelled);
});
