import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { checkUpload, readUpload } from "../../../routes/pipeline/upload.ts";

const limits = { types: ["application/x-tar", "application/gzip"], bytesMax: () => 10 };

const OPTIONS = { bytesMax: 10, assertAllowed: () => Promise.resolve() };

const request = (headers: Record<string, string>) =>
  new Request("http://longshore.test", { method: "POST", headers });

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text();
}

/** A body of the given pieces, which then ends, fails or hangs. */
function bodyOf(pieces: string[], end: "end" | "fail" | "hang" = "end") {
  const body = {
    isCancelled: false,
    body: new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece !== undefined) return controller.enqueue(new TextEncoder().encode(piece));
        if (end === "end") return controller.close();
        if (end === "fail") return controller.error(new Error("connection reset"));
        return new Promise<void>(() => {});
      },
      cancel: () => void (body.isCancelled = true),
    }, { highWaterMark: 0 }),
  };
  return body;
}

Deno.test("checkUpload() refuses other types and an announced length above the limit", () => {
  checkUpload(request({}), limits);
  checkUpload(
    request({ "content-type": "Application/X-Tar; a=b", "content-length": "10" }),
    limits,
  );
  throws(() => checkUpload(request({ "content-type": "application/json" }), limits), {
    code: "unsupported_media_type",
    message: "Expected a body of type application/x-tar, not application/json",
  });
  throws(() => checkUpload(request({ "content-length": "11" }), limits), { code: "too_large" });
});

Deno.test("readUpload() passes a body on, and an absent one as empty", async () => {
  equal(await textOf(readUpload(bodyOf(["01234", "56789"]), { ...OPTIONS })), "0123456789");
  equal(await textOf(readUpload({ body: null }, { ...OPTIONS })), "");
});

Deno.test("readUpload() fails above the limit and stops reading", async () => {
  const body = bodyOf(["01234", "567890"], "hang");
  await rejects(textOf(readUpload(body, { ...OPTIONS })), {
    code: "too_large",
    message: "The body is larger than 10 bytes",
  });
  equal(body.isCancelled, true);
});

Deno.test("readUpload() reports a client that disconnects before the stream fails", async () => {
  const order: string[] = [];
  const onDisconnect = () => order.push("disconnected");
  await textOf(readUpload(bodyOf(["x"], "fail"), { ...OPTIONS, onDisconnect }))
    .catch(({ message }) => order.push(message));
  deepEqual(order, ["disconnected", "body: is incomplete or malformed"]);
});

Deno.test("readUpload() gives up on a client that sends nothing", async () => {
  const body = bodyOf(["x"], "hang");
  let disconnected = 0;
  const onDisconnect = () => disconnected++;
  await rejects(textOf(readUpload(body, { ...OPTIONS, idleMaxMs: 1, onDisconnect })), {
    code: "invalid",
    message: "body: arrives too slowly",
  });
  deepEqual([body.isCancelled, disconnected], [true, 0]);
});

Deno.test("readUpload() gives up on a client that sends single bytes, but not on a slow reader", async () => {
  let at = 0;
  const now = () => at;
  const slow = readUpload({
    body: new ReadableStream({
      pull(controller) {
        at += 30_000; // Each byte takes the client half a minute.
        controller.enqueue(new Uint8Array(1));
      },
    }, { highWaterMark: 0 }),
  }, { ...OPTIONS, now });
  await rejects(textOf(slow), { message: "body: arrives too slowly" });

  const reader = readUpload(bodyOf(["a", "b", "c", "d"]), { ...OPTIONS, now }).getReader();
  let text = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    at += 600_000; // The reader takes ten minutes for each byte.
    text += new TextDecoder().decode(piece.value);
  }
  equal(text, "abcd");
});

Deno.test("a reader that stops cancels the body", async () => {
  const body = bodyOf(["x"], "hang");
  await readUpload(body, { ...OPTIONS }).cancel();
  equal(body.isCancelled, true);
});

Deno.test("readUpload() checks the caller every second and at the end, before it passes a piece on", async () => {
  let at = 0;
  const checks: number[] = [];
  const pieces = ["a", "b", "c"];
  const stepping = bodyOf(pieces);
  const options = { ...OPTIONS, now: () => at };
  const stream = readUpload(stepping, {
    ...options,
    assertAllowed() {
      checks.push(pieces.length);
      return Promise.resolve();
    },
  });
  for await (const _ of stream) at += 600;
  // With "c", and after it.
  deepEqual(checks, [0, 0]);

  const body = bodyOf(["a"], "hang");
  const refused = readUpload(body, {
    ...options,
    assertAllowed: () => Promise.reject(new Error("revoked")),
  }).getReader();
  at += 1_000;
  await rejects(refused.read(), /revoked/);
  equal(body.isCancelled, true);
});
