import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { imageLoad } from "../../engine/image_archives.ts";
import {
  fakeEngine,
  jsonAnswer,
  type RawConnection,
  type RawEngine,
  rawEngine,
} from "../helpers/fake_engine.ts";
import { until } from "../helpers/until.ts";

const encoder = new TextEncoder();

const PONG = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK";

/** An engine that gets requests in pieces, as they arrive. */
function readingEngine(
  onText: (connection: RawConnection, text: string) => void | Promise<void>,
): RawEngine {
  return rawEngine(async (connection) => {
    for (let text = await connection.read(); text; text = await connection.read()) {
      if (text.includes("/_ping ")) await connection.write(PONG);
      else await onText(connection, text);
    }
  });
}

/** A source that the test feeds. */
function source() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (own) => void (controller = own),
    cancel: () => void (isCancelled = true),
  });
  return {
    stream,
    send: (text: string) => controller.enqueue(encoder.encode(text)),
    end: () => controller.close(),
    fail: (error: Error) => controller.error(error),
    get isCancelled() {
      return isCancelled;
    },
  };
}

Deno.test("an upload arrives complete, in chunks, and its connection serves further requests", async () => {
  const bodies: string[] = [];
  await using fake = fakeEngine({
    "POST /images/load": ({ text }) => {
      bodies.push(text);
      return new Response('{"stream":"Loaded image: app:1\\nLoaded image ID: sha256:12\\n"}');
    },
  });
  const sent: number[] = [];
  for (let count = 0; count < 2; count++) {
    const { stream, send, end } = source();
    for (const piece of ["some ", "", "text"]) send(piece);
    end();
    const onSent = (bytes: number) => sent.push(bytes);
    deepEqual(await imageLoad(fake.engine, stream, { onSent }), ["app:1", "sha256:12"]);
  }
  deepEqual(bodies, ["some text", "some text"]);
  deepEqual(sent, [5, 4, 5, 4]);
  equal(fake.requests[0], "POST /images/load?quiet=true");
});

Deno.test("an empty upload has a body without chunks", async () => {
  await using fake = fakeEngine({ "POST /images/load": () => new Response("{}") });
  const { stream, end } = source();
  end();
  deepEqual(await imageLoad(fake.engine, stream), []);
});

Deno.test("the names that Podman joins with commas are separate", async () => {
  await using fake = fakeEngine({
    "POST /images/load": () => new Response('{"stream":"Loaded image: a:1,b:2"}'),
  });
  const { stream, end } = source();
  end();
  deepEqual(await imageLoad(fake.engine, stream), ["a:1", "b:2"]);
});

Deno.test("an engine that refuses an upload early is understood, and the source is cancelled", async () => {
  const answer = jsonAnswer({ message: "write /x/y: no space left on device" }, "500 E");
  await using raw = readingEngine(async (connection, text) => {
    if (text.includes("beginning")) await connection.write(answer);
  });
  const upload = source();
  upload.send("the beginning");

  await rejects(imageLoad(raw.engine, upload.stream), {
    name: "EngineError",
    status: 507,
    message: "write y: no space left on device",
  });
  equal(upload.isCancelled, true);
});

Deno.test("a source that fails ends the request without the end of the body", async () => {
  let received = "";
  await using raw = readingEngine((_, text) => void (received += text));
  const upload = source();
  const load = imageLoad(raw.engine, upload.stream);
  upload.send("half");
  await until("half has arrived", () => received.includes("half"));
  upload.fail(new Error("the client is gone"));

  await rejects(load, { message: "the client is gone" });
  await until("only the idle connection is left", () => raw.open === 1);
  match(received, /\r\n\r\n4\r\nhalf\r\n$/);
});

Deno.test("an aborted upload closes the connection and cancels a source that sends nothing", async () => {
  let received = "";
  await using raw = readingEngine((_, text) => void (received += text));
  const upload = source();
  const abort = new AbortController();
  const load = imageLoad(raw.engine, upload.stream, { signal: abort.signal });
  await until("the request has arrived", () => received.includes("/images/load"));
  abort.abort(new Error("cancelled"));

  await rejects(load, { message: "cancelled" });
  equal(upload.isCancelled, true);
  await until("only the idle connection is left", () => raw.open === 1);
});

Deno.test("an upload that is aborted before it starts cancels its source", async () => {
  await using raw = readingEngine(() => {});
  const upload = source();
  const signal = AbortSignal.abort(new Error("cancelled"));
  await rejects(imageLoad(raw.engine, upload.stream, { signal }), { message: "cancelled" });
  equal(upload.isCancelled, true);
});

for (
  const { text, status, shown } of [
    {
      text: "open /var/lib/docker/tmp/docker-import-1/repositories: no such file or directory",
      status: 400,
      shown: "the archive has no images in the format of docker save",
    },
    {
      text: "Error processing tar file(exit status 1): archive/tar: invalid tar header",
      status: 400,
      shown: "Error processing tar file(exit status 1): archive/tar: invalid tar header",
    },
    {
      text: "open /var/lib/docker/tmp/docker-import-77/abc/layer.tar: no such file or directory",
      status: 400,
      shown: "open layer.tar: no such file or directory",
    },
    {
      text: "payload does not match any of the supported image formats:\n * oci: open /var/tmp/x/y",
      status: 400,
      shown: "the archive has no images in the format of docker save",
    },
    {
      text: "initializing source oci:/var/tmp/api_load.tar1:: https://example.com/a/b",
      status: 400,
      shown: "initializing source oci:api_load.tar1:: https://example.com/a/b",
    },
    {
      text: "write /var/lib/docker/tmp/docker-import-77/x: no space left on device",
      status: 507,
      shown: "write x: no space left on device",
    },
  ]
) {
  Deno.test(`imageLoad() that ends in "${text}" shows no path of the host`, async () => {
    await using fake = fakeEngine({
      "POST /images/load": () => Response.json({ errorDetail: { message: text }, error: text }),
    });
    const { stream, end } = source();
    end();
    await rejects(imageLoad(fake.engine, stream), { name: "EngineError", status, message: shown });
  });
}
