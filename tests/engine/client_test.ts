import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import type { Method } from "../../engine/calls.ts";
import { EngineError, EngineProtocolError, EngineUnreachableError } from "../../engine/errors.ts";
import {
  connectAny,
  fakeEngine,
  jsonAnswer,
  leaveSocket,
  outputFrame,
  type RawConnection,
  rawEngine,
} from "../helpers/fake_engine.ts";
import { until } from "../helpers/until.ts";

const OK = jsonAnswer({ ok: true });

/** Sends the same bytes for each request of a connection. */
const always = (wire: string) => async (connection: RawConnection) => {
  while (await connection.request()) await connection.write(wire);
};

/** The reason of an EngineUnreachableError. */
async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof EngineUnreachableError) return error.reason;
    throw error;
  }
  throw new Error("It did not fail");
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of body) text += decoder.decode(piece, { stream: true });
  return text;
}

Deno.test("a request uses the negotiated version, with its query and JSON body", async () => {
  let sent = "";
  await using raw = rawEngine(async (connection) => {
    sent = await connection.request() ?? "";
    await connection.write(OK);
    await connection.ended();
  });

  const answer = await raw.engine.json("POST", "/a", {
    query: { name: "x y&z", all: true, n: 3, none: undefined },
    body: { é: 1 },
    headers: { "X-Test": "1" },
  });

  deepEqual(answer, { ok: true });
  equal(
    sent,
    "POST /v1.41/a?name=x%20y%26z&all=true&n=3 HTTP/1.1\r\nHost: engine\r\nX-Test: 1\r\n" +
      'Content-Type: application/json\r\nContent-Length: 8\r\n\r\n{"é":1}',
  );
  equal(raw.engine.apiVersion, "1.41");
  equal(raw.engine.reachable, true);
});

Deno.test("consecutive requests share one connection", async () => {
  await using raw = rawEngine(always(OK));
  for (let count = 0; count < 10; count++) await raw.engine.json("GET", "/a");
  equal(raw.accepted, 1);
  equal(raw.requests.length, 10);
});

Deno.test("concurrent requests use no more connections than allowed", async () => {
  let atOnce = 0;
  let most = 0;
  await using raw = rawEngine(async (connection) => {
    while (await connection.request()) {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve, 1));
      atOnce--;
      await connection.write(OK);
    }
  }, { connectionsMax: 3 });

  await Promise.all(Array.from({ length: 50 }, () => raw.engine.json("GET", "/a")));

  equal(most, 3);
  ok(raw.accepted <= 4, "the probe may need one more");
});

Deno.test("waiting requests run in order of arrival", async () => {
  await using raw = rawEngine(always(OK), { connectionsMax: 1 });
  await Promise.all([1, 2, 3, 4, 5].map((n) => raw.engine.json("GET", `/${n}`)));
  deepEqual(raw.requests, ["GET /1", "GET /2", "GET /3", "GET /4", "GET /5"]);
});

Deno.test("a request beyond the limit of the queue fails immediately", async () => {
  await using raw = rawEngine(async (connection) => {
    while (await connection.request()) await connection.ended();
  }, { connectionsMax: 1, waitingMax: 1 });
  const abort = new AbortController();
  const { signal } = abort;
  const running = raw.engine.json("GET", "/running", { signal });
  const waiting = raw.engine.json("GET", "/waiting", { signal });
  running.catch(() => {});
  waiting.catch(() => {});
  await until("the first request arrived", () => raw.requests.includes("GET /running"));

  equal(await reasonOf(raw.engine.json("GET", "/refused")), "busy");
  abort.abort();
  await rejects(running, { name: "AbortError" });
  await rejects(waiting, { name: "AbortError" });
  deepEqual(raw.requests, ["GET /running"]);
});

Deno.test("long requests do not delay short ones", async () => {
  await using raw = rawEngine(async (connection) => {
    for (let text = await connection.request(); text; text = await connection.request()) {
      if (text.includes("/short ")) await connection.write(OK);
      else await connection.ended();
    }
  }, { connectionsMax: 1 });
  const abort = new AbortController();
  const long = [1, 2, 3].map(() =>
    raw.engine.request("GET", "/long", { long: true, signal: abort.signal })
  );
  await until("three requests arrived", () => raw.requests.length === 3);

  deepEqual(await raw.engine.json("GET", "/short"), { ok: true });
  abort.abort();
  for (const request of long) await rejects(request, { name: "AbortError" });
});

for (
  const [form, wire, keeps] of [
    ["a length", 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}', true],
    [
      "chunks",
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n',
      true,
    ],
    [
      "interim answers",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
      'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}',
      true,
    ],
    [
      "Connection: close",
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\n{"a":1}',
      false,
    ],
    ["HTTP/1.0", 'HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}', false],
  ] as const
) {
  Deno.test(`a response with ${form} is read when split at any byte`, async () => {
    await using raw = rawEngine(async (connection) => {
      for (
        let request = await connection.request();
        request;
        request = await connection.request()
      ) {
        const split = Number(/\/split\/(\d+)/.exec(request)?.[1]);
        await connection.write(wire.slice(0, split));
        // Makes most of the two writes arrive separately.
        await new Promise((resolve) => setTimeout(resolve));
        await connection.write(wire.slice(split));
      }
    });
    for (let split = 1; split < wire.length; split++) {
      deepEqual(await raw.engine.json("GET", `/split/${split}`), { a: 1 });
    }
    equal(raw.accepted === 1, keeps);
  });
}

Deno.test("a connection with unrequested bytes is not reused", async () => {
  await using raw = rawEngine(always(OK + "HTTP/1.1 200 OK\r\n"));
  for (let count = 0; count < 3; count++) await raw.engine.json("GET", "/a");
  equal(raw.accepted, 3);
});

Deno.test("a response without length or chunks ends with the connection", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write('HTTP/1.1 200 OK\r\n\r\n{"a":');
    await connection.write("1}");
  });
  deepEqual(await raw.engine.json("GET", "/a"), { a: 1 });
  await until("every connection is closed", () => raw.open === 0);
});

for (const status of ["204 No Content", "304 Not Modified"]) {
  Deno.test(`a response with status ${status} has no body, and its connection is reused`, async () => {
    await using raw = rawEngine(always(`HTTP/1.1 ${status}\r\nContent-Length: 5\r\n\r\n`));
    for (let count = 0; count < 3; count++) {
      const response = await raw.engine.request("POST", "/a");
      equal(response.status, parseInt(status));
      equal((await response.bytes()).length, 0);
    }
    equal(raw.accepted, 1);
  });
}

Deno.test("a response to HEAD has no body, and its connection is reused", async () => {
  await using raw = rawEngine(always("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"));
  equal(await (await raw.engine.request("HEAD", "/a")).text(), "");
  equal(await (await raw.engine.request("HEAD", "/a")).text(), "");
  equal(raw.accepted, 1);
});

Deno.test("an error has the engine's status and text, and its connection is reused", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(jsonAnswer({ message: "No such container: x" }, "404 Not Found"));
    await connection.request();
    await connection.write("HTTP/1.1 500 Oops\r\nContent-Length: 6\r\n\r\nplain\n");
    await connection.request();
    await connection.write("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n");
    await connection.ended();
  });
  await rejects(raw.engine.json("GET", "/a"), new EngineError(404, "No such container: x"));
  await rejects(raw.engine.json("GET", "/a"), new EngineError(500, "plain"));
  await rejects(
    raw.engine.request("GET", "/a"),
    new EngineError(409, "The engine responded with status 409"),
  );
  equal(raw.accepted, 1);
  equal(raw.engine.reachable, true);
});

Deno.test("the text of an error is truncated", async () => {
  const wire = (length: number) =>
    `HTTP/1.1 500 Oops\r\nContent-Length: ${length}\r\n\r\n${"x".repeat(length)}`;
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(wire(5_000));
    await connection.request();
    await connection.write(wire(500_000));
  });
  await rejects(raw.engine.json("GET", "/a"), { status: 500, message: "x".repeat(2_000) });
  await rejects(raw.engine.json("GET", "/a"), { status: 500 });
});

Deno.test("a body is streamed on demand, and its connection is reused afterwards", async () => {
  await using raw = rawEngine(async (connection) => {
    while (await connection.request()) {
      await connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (const part of ["one", "two", "three"]) {
        await connection.write(`${part.length.toString(16)}\r\n${part}\r\n`);
      }
      await connection.write("0\r\n\r\n");
    }
  });
  for (let count = 0; count < 3; count++) {
    equal(await textOf((await raw.engine.request("GET", "/a")).body), "onetwothree");
  }
  equal(raw.accepted, 1);
});

Deno.test("an engine that sends faster than the caller reads must wait", async () => {
  let written = 0;
  const abort = new AbortController();
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write("HTTP/1.1 200 OK\r\n\r\n");
    const part = new Uint8Array(64 * 1024);
    for (; written < 1000; written++) await connection.write(part);
  });
  const { body } = await raw.engine.request("GET", "/a", { signal: abort.signal });
  const iterator = body[Symbol.asyncIterator]();
  await iterator.next();

  let before = -1;
  await until("the engine can write no more", () => {
    const isStalled = before === written;
    before = written;
    return isStalled && written > 0;
  });
  ok(written < 100, `${written} parts of 64 KiB went into the socket's buffers`);
  abort.abort();
  await rejects(iterator.next(), { name: "AbortError" });
});

for (
  const [way, leave] of [
    ["leaving the loop", async (body: AsyncIterable<Uint8Array>) => {
      for await (const _ of body) break;
    }],
    ["leaving before the first piece", async (body: AsyncIterable<Uint8Array>) => {
      await body[Symbol.asyncIterator]().return!();
    }],
    ["leaving while the next piece is awaited", async (body: AsyncIterable<Uint8Array>) => {
      const iterator = body[Symbol.asyncIterator]();
      await iterator.next();
      const pending = iterator.next();
      await iterator.return!();
      equal((await pending).done, true);
    }],
  ] as const
) {
  Deno.test(`${way} of a stream closes its connection and releases the limiter`, async () => {
    await using raw = rawEngine(async (connection) => {
      await connection.request();
      await connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
      await connection.ended();
    }, { connectionsMax: 1 });
    for (let count = 0; count < 3; count++) {
      await leave((await raw.engine.request("GET", "/a")).body);
    }
    await until("every connection is closed", () => raw.open === 0);
  });
}

Deno.test("cancel() closes the connection; after the end it does nothing", async () => {
  await using raw = rawEngine(async (connection) => {
    while (await connection.request()) {
      if (connection.number === 1) await connection.write("HTTP/1.1 200 OK\r\n\r\nab");
      else await connection.write(OK);
    }
  });
  (await raw.engine.request("GET", "/a")).cancel();
  await until("every connection is closed", () => raw.open === 0);

  const response = await raw.engine.request("GET", "/b");
  await response.bytes();
  response.cancel();
  await raw.engine.json("GET", "/c");
  equal(raw.accepted, 2);
});

for (const method of ["GET", "HEAD", "PUT", "DELETE", "POST"] satisfies Method[]) {
  const isRepeated = method !== "POST";
  Deno.test(
    `${method} on a connection that ends unanswered is ${isRepeated ? "" : "not "}sent again`,
    async () => {
      await using raw = rawEngine(async (connection) => {
        await connection.request();
        await connection.write("HTTP/1.1 204 No Content\r\n\r\n");
        // The second request is read from the first connection but gets no response.
        if (await connection.request() && connection.number > 1) {
          await connection.write("HTTP/1.1 204 No Content\r\n\r\n");
        }
      });
      await raw.engine.request("GET", "/first");

      const second = raw.engine.request(method, "/second");
      if (isRepeated) equal((await second).status, 204);
      else equal(await reasonOf(second), "broken");

      const sent = raw.requests.filter((request) => request === `${method} /second`);
      equal(sent.length, isRepeated ? 2 : 1);
    },
  );

  Deno.test(`${method} on an idle connection that the engine closed is sent on a new one`, async () => {
    await using raw = rawEngine(async (connection) => {
      await connection.request();
      await connection.write("HTTP/1.1 204 No Content\r\n\r\n");
    });
    await raw.engine.request("GET", "/first");
    await until("every connection is closed", () => raw.open === 0);

    equal((await raw.engine.request(method, "/second")).status, 204);
    deepEqual(raw.requests, ["GET /first", `${method} /second`]);
  });
}

Deno.test("a request is retried only once, and never after a new connection", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
  });
  // The first request uses the connection of the ping.
  await rejects(raw.engine.json("GET", "/a"), {
    reason: "broken",
    message: `The connection to the container engine at ${raw.socketPath} broke`,
  });
  deepEqual(raw.requests, ["GET /a", "GET /a"]);
});

Deno.test("a GET whose response has started is not retried", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(OK);
    await connection.request();
    await connection.write("HTTP/1.1 20");
  });
  await raw.engine.json("GET", "/a");
  equal(await reasonOf(raw.engine.json("GET", "/b")), "broken");
  deepEqual(raw.requests, ["GET /a", "GET /b"]);
});

Deno.test("a truncated body is an error, read in full or streamed", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[1,");
  });
  equal(await reasonOf(raw.engine.json("GET", "/a")), "broken");
  equal(await reasonOf(textOf((await raw.engine.request("GET", "/b")).body)), "broken");
  raw.engine.close();
  await until("every connection is closed", () => raw.open === 0);
});

for (
  const [wrong, wire] of [
    ["no HTTP", "SSH-2.0-OpenSSH_9.2p1\r\n\r\n"],
    ["an endless head", "HTTP/1.1 200 OK\r\nA: " + "x".repeat(70_000)],
    ["too many headers", "HTTP/1.1 200 OK\r\n" + "A: b\r\n".repeat(200) + "\r\n"],
    ["an unusable length", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"],
    ["a malformed chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ["a switch of protocols", "HTTP/1.1 101 Switching\r\nUpgrade: tcp\r\n\r\n"],
    ["what is not JSON", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
    ["interim answers without end", "HTTP/1.1 102 Processing\r\n\r\n".repeat(100)],
    ["more than is allowed", "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + "1".repeat(2000)],
  ] as const
) {
  Deno.test(`a response with ${wrong} is a protocol error and leaks nothing`, async () => {
    await using raw = rawEngine(async (connection) => {
      while (await connection.request()) await connection.write(wire);
    }, { connectionsMax: 1 });
    for (let count = 0; count < 3; count++) {
      await rejects(raw.engine.json("GET", "/a", { bodyMax: 1000 }), EngineProtocolError);
    }
    equal(raw.engine.reachable, true);
    raw.engine.close();
    await until("every connection is closed", () => raw.open === 0);
  });
}

for (
  const [when, wire] of [
    ["before the head", ""],
    ["within the head", "HTTP/1.1 200 OK\r\nContent-"],
    ["within the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1,"],
  ] as const
) {
  Deno.test(`an abort ${when} ends the request with the signal's reason`, async () => {
    let isWaiting = false;
    await using raw = rawEngine(async (connection) => {
      await connection.request();
      await connection.write(wire);
      isWaiting = true;
      await connection.ended();
    }, { connectionsMax: 1 });
    for (let count = 0; count < 3; count++) {
      isWaiting = false;
      const abort = new AbortController();
      const request = raw.engine.json("GET", "/a", { signal: abort.signal });
      request.catch(() => {});
      await until("the engine has the request", () => isWaiting);
      const reason = new Error("not needed any more");
      abort.abort(reason);
      await rejects(request, reason);
    }
    await until("every connection is closed", () => raw.open === 0);
    equal(raw.engine.reachable, true);
  });
}

Deno.test("an abort ends a stream without a pending read, and releases the limiter", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write("HTTP/1.1 200 OK\r\n\r\nab");
    await connection.ended();
  }, { connectionsMax: 1 });
  const abort = new AbortController();
  const { body } = await raw.engine.request("GET", "/a", { signal: abort.signal });

  abort.abort();

  await until("every connection is closed", () => raw.open === 0);
  (await raw.engine.request("GET", "/b")).cancel();
  await rejects(textOf(body), { name: "AbortError" });
});

Deno.test("aborts at any moment release the connection and the limiter", async () => {
  const large = jsonAnswer("x".repeat(200_000));
  await using raw = rawEngine(async (connection) => {
    while (await connection.request()) await connection.write(raw.requests.length % 2 ? OK : large);
  }, { connectionsMax: 2, longMax: 2 });
  await Promise.all(Array.from({ length: 12 }, async (_, number) => {
    for (let count = 0; count < 150; count++) {
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort(), count % 5);
      const options = { signal: abort.signal, long: number % 2 === 0 };
      try {
        if (number % 3 === 0) await textOf((await raw.engine.request("GET", "/a", options)).body);
        else await raw.engine.json("GET", "/a", options);
      } catch (error) {
        equal(error, abort.signal.reason);
      }
      clearTimeout(timer);
    }
  }));
  for (const long of [false, true]) {
    await Promise.all([1, 2].map(() => raw.engine.json("GET", "/a", { long })));
  }
  raw.engine.close();
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("an aborted signal sends nothing, and a late abort does nothing", async () => {
  await using raw = rawEngine(always(OK));
  await rejects(raw.engine.json("GET", "/a", { signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
  equal(raw.accepted, 0);

  const abort = new AbortController();
  await raw.engine.json("GET", "/a", { signal: abort.signal });
  abort.abort();
  await raw.engine.json("GET", "/a");
  equal(raw.accepted, 1);
});

Deno.test("a late response is a timeout and leaks nothing", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.ended();
  }, { connectionsMax: 1 });
  for (let count = 0; count < 3; count++) {
    await rejects(raw.engine.json("GET", "/a", { headTimeoutMs: 10 }), {
      reason: "timeout",
      message: `The container engine at ${raw.socketPath} did not answer within 0.01 s`,
    });
  }
  raw.engine.close();
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("the timeout includes the wait for the limiter", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.ended();
  }, { connectionsMax: 1 });
  const abort = new AbortController();
  const first = raw.engine.json("GET", "/a", { signal: abort.signal });
  first.catch(() => {});
  await until("the request arrived", () => raw.requests.length === 1);
  equal(await reasonOf(raw.engine.json("GET", "/b", { headTimeoutMs: 10 })), "timeout");
  abort.abort();
  await rejects(first);
});

Deno.test("a stream that has started has no timeout", async () => {
  const goOn = Promise.withResolvers<void>();
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write("HTTP/1.1 200 OK\r\n\r\na");
    await goOn.promise;
    await connection.write("b");
  });
  const response = await raw.engine.request("GET", "/a", { headTimeoutMs: 1_000 });
  setTimeout(goOn.resolve, 1_500);
  equal(await textOf(response.body), "ab");
});

Deno.test("upgrade() returns a duplex connection whose sides close separately", async () => {
  let head = "";
  await using raw = rawEngine(async (connection) => {
    head = await connection.request() ?? "";
    await connection.write(
      "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n" +
        "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst ",
    );
    let text = "";
    for (let part = await connection.read(); part; part = await connection.read()) text += part;
    // The engine's side is still open after the client has ended its own.
    await connection.write(`echo ${text}`);
  });

  using connection = await raw.engine.upgrade("/exec/x/start", { body: { Tty: false } });
  equal(connection.contentType, "application/vnd.docker.raw-stream");
  await connection.write(new TextEncoder().encode("hello "));
  await connection.write(new TextEncoder().encode("world"));
  await connection.closeWrite();

  equal(await textOf(connection.readable), "first echo hello world");
  match(head, /^POST \/v1.41\/exec\/x\/start HTTP\/1.1\r\n/);
  match(head, /\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n/);
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("upgrade() accepts a 200 response instead of 101", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/x\r\n\r\nhello");
  });
  using connection = await raw.engine.upgrade("/exec/x/start");
  equal(await textOf(connection.readable), "hello");
});

Deno.test("upgrade() refuses a response with ambiguous framing, and leaks nothing", async () => {
  await using raw = rawEngine(always("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), {
    longMax: 1,
  });
  for (let count = 0; count < 3; count++) {
    await rejects(raw.engine.upgrade("/exec/x/start"), EngineProtocolError);
  }
});

Deno.test("upgrade() fails with the engine's own message", async () => {
  await using raw = rawEngine(always(jsonAnswer({ message: "not running" }, "409 Conflict")));
  await rejects(raw.engine.upgrade("/exec/x/start"), new EngineError(409, "not running"));
});

Deno.test("a hijacked connection ends by close() and by its signal", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write("HTTP/1.1 101 UPGRADED\r\n\r\n");
    await connection.ended();
  });
  const closed = await raw.engine.upgrade("/a");
  const reading = textOf(closed.readable);
  closed.close();
  equal(await reading, "");

  const abort = new AbortController();
  const aborted = await raw.engine.upgrade("/a", { signal: abort.signal });
  const failing = textOf(aborted.readable);
  failing.catch(() => {});
  abort.abort();
  await rejects(failing, { name: "AbortError" });
  await rejects(aborted.write(new Uint8Array(1)), { name: "AbortError" });
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("a missing socket, a file and a socket without a listener have different errors", async () => {
  const directory = Deno.makeTempDirSync();
  const path = (name: string) => `${directory}/${name}`;
  Deno.writeTextFileSync(path("file"), "");
  leaveSocket(path("deaf"));
  const messageOf = async (name: string) => {
    using engine = connectAny(path(name));
    try {
      return await engine.json<string>("GET", "/a");
    } catch (error) {
      if (!(error instanceof EngineUnreachableError)) throw error;
      return `${error.reason}: ${error.message.replaceAll(directory, "")}`;
    }
  };
  try {
    equal(
      await messageOf("none"),
      "missing: No container engine at /none: the socket does not exist",
    );
    equal(
      await messageOf("file/none"),
      "missing: No container engine at /file/none: the socket does not exist",
    );
    equal(
      await messageOf("file"),
      "refused: The container engine at /file is not running: no process listens on its socket",
    );
    equal(
      await messageOf("deaf"),
      "refused: The container engine at /deaf is not running: no process listens on its socket",
    );
    match(await messageOf("x".repeat(200)), /^refused: .* does not accept connections: /);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test({
  name: "a socket that the runtime may not use is a matter of permission",
  permissions: { read: true, write: true, net: [] },
  async fn() {
    using engine = connectAny("/tmp/forbidden.sock");
    await rejects(engine.json("GET", "/a"), { reason: "permission" });
  },
});

Deno.test("an unreachable engine is probed after a delay that grows to 1 s", async () => {
  let now = 0;
  const directory = Deno.makeTempDirSync();
  const socketPath = `${directory}/engine.sock`;
  using engine = connectAny(socketPath, { now: () => now, probePatienceMs: 5_000 });
  const ask = () => reasonOf(engine.json("GET", "/a"));
  /** Whether a request at this time asks the engine: only that one can see the file. */
  const asksAt = async (at: number) => {
    now = at;
    Deno.writeTextFileSync(socketPath, "");
    const reason = await ask();
    Deno.removeSync(socketPath);
    return reason === "refused";
  };
  try {
    equal(await ask(), "missing");
    equal(engine.reachable, false);
    equal(await asksAt(249), false);
    equal(await asksAt(250), true);
    // The circuit keeps the failure of the last probe.
    equal(await ask(), "refused");
    now = 749;
    equal(await ask(), "refused");
    now = 750;
    equal(await ask(), "missing");
    equal(await asksAt(1749), false);
    equal(await asksAt(1750), true);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("a request after the engine has returned succeeds and negotiates again", async () => {
  let now = 0;
  await using fake = fakeEngine(
    { "GET /a": () => Response.json({ ok: true }) },
    { now: () => now, probePatienceMs: 5_000, apiVersion: "1.41" },
  );
  await fake.engine.json("GET", "/a");
  await fake.down();
  equal(await reasonOf(fake.engine.json("GET", "/a")), "missing");
  equal(fake.engine.reachable, false);

  fake.apiVersion = "1.44";
  fake.up();
  equal(await reasonOf(fake.engine.json("GET", "/a")), "missing", "the circuit is open");
  now += 1_000;
  const together = await Promise.all([1, 2, 3].map(() => fake.engine.json("GET", "/a")));
  deepEqual(together, [{ ok: true }, { ok: true }, { ok: true }]);
  equal(fake.engine.apiVersion, "1.44");
  equal(fake.engine.reachable, true);
});

Deno.test("waiting requests fail when the engine becomes unreachable", async () => {
  await using fake = fakeEngine({
    "POST /slow": ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(new Response("late")))
      ),
  }, { connectionsMax: 1 });
  const running = reasonOf(fake.engine.json("POST", "/slow"));
  await until("the request arrived", () => fake.requests.length === 1);
  const waiting = [1, 2, 3].map(() => reasonOf(fake.engine.json("GET", "/slow")));

  await fake.down();

  equal(await running, "broken");
  deepEqual(await Promise.all(waiting), ["missing", "missing", "missing"]);
});

Deno.test("a hanging engine opens the circuit, and closes it when it responds again", async () => {
  let now = 0;
  let hangs = false;
  const awake: (() => void)[] = [];
  await using raw = rawEngine(async (connection) => {
    for (let text = await connection.read(); text; text = await connection.read()) {
      if (hangs) await new Promise<void>((resolve) => awake.push(resolve));
      await connection.write(
        text.includes("/_ping")
          ? "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK"
          : OK,
      );
    }
  }, { pings: false, now: () => now, suspectMs: 10, probeTimeoutMs: 1_000, probePatienceMs: 20 });
  await raw.engine.json("GET", "/a");

  hangs = true;
  const read = reasonOf(raw.engine.json("GET", "/a"));
  const write = raw.engine.json("POST", "/a");
  await until("the circuit is open", () => !raw.engine.reachable);
  equal(await read, "silent", "what only reads is given up");
  equal(await reasonOf(raw.engine.json("GET", "/a")), "silent");
  now += 1_000;
  equal(await reasonOf(raw.engine.json("GET", "/a")), "silent", "the probe is not waited for");

  hangs = false;
  for (const wake of awake) wake();
  deepEqual(await write, { ok: true });
  await until("the circuit is closed", () => {
    now += 1_000;
    raw.engine.json("GET", "/a").catch(() => {});
    return raw.engine.reachable;
  });
  deepEqual(await raw.engine.json("GET", "/a"), { ok: true });
});

Deno.test("errors, aborts and slow responses of a working engine do not open the circuit", async () => {
  await using fake = fakeEngine({
    "GET /bad": () => Response.json({ message: "no" }, { status: 500 }),
    "GET /slow": ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(new Response("late")))
      ),
    "GET /a": () => Response.json(1),
  }, { suspectMs: 5 });
  for (let count = 0; count < 5; count++) {
    await rejects(fake.engine.json("GET", "/bad"), EngineError);
    await rejects(fake.engine.json("GET", "/slow", { signal: AbortSignal.timeout(5) }));
    await rejects(fake.engine.json("GET", "/slow", { headTimeoutMs: 15 }), { reason: "timeout" });
    equal(fake.engine.reachable, true);
  }
  equal(await fake.engine.json("GET", "/a"), 1);
});

for (
  const [engineSpeaks, used] of [
    ["1.40", "1.40"],
    ["1.51", "1.51"],
    ["1.99", "1.55"],
  ] as const
) {
  Deno.test(`an engine that supports ${engineSpeaks} gets requests in ${used}`, async () => {
    await using fake = fakeEngine({
      "GET /version": () => Response.json({ MinAPIVersion: "1.44" }),
      "GET /a": () => Response.json(1),
    }, { apiVersion: engineSpeaks });
    await fake.engine.json("GET", "/a");
    equal(fake.engine.apiVersion, used);
    equal(fake.engine.kind, "docker");
  });
}

Deno.test("an engine that is too old or too new is refused with both versions", async () => {
  await using old = fakeEngine({}, { apiVersion: "1.39" });
  await rejects(old.engine.json("GET", "/a"), {
    reason: "version",
    message: "The container engine is too old: it supports API version 1.39, but 1.40 " +
      "(Docker 19.03) or newer is required",
  });
  await using young = fakeEngine({
    "GET /version": () => Response.json({ MinAPIVersion: "1.70" }),
  }, { apiVersion: "1.80" });
  await rejects(young.engine.json("GET", "/a"), {
    reason: "version",
    message:
      "The container engine is too new: it requires API version 1.70 or newer, but 1.55 is " +
      "the newest supported version",
  });
});

Deno.test("Podman is recognized by its version header", async () => {
  await using fake = fakeEngine({ "GET /a": () => Response.json(1) }, {
    pingHeaders: { "libpod-api-version": "4.3.1" },
  });
  equal(fake.engine.kind, undefined);
  await fake.engine.json("GET", "/a");
  equal(fake.engine.kind, "podman");
});

Deno.test("a server that is not a container engine is refused", async () => {
  await using raw = rawEngine(always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), {
    pings: false,
  });
  await rejects(raw.engine.json("GET", "/a"), {
    reason: "protocol",
    message: `The process listening at ${raw.socketPath} is not a container engine`,
  });
  equal(raw.engine.reachable, false);
});

Deno.test("after an upgrade of the engine, requests use its new version", async () => {
  await using fake = fakeEngine({
    "POST /a": ({ version }) =>
      version === fake.apiVersion ? Response.json(version) : Response.json(
        { message: `client version ${version} is too old. Minimum supported API version is 1.44` },
        { status: 400 },
      ),
  });
  equal(await fake.engine.json("POST", "/a"), "1.41");
  fake.apiVersion = "1.47";
  equal(await fake.engine.json("POST", "/a"), "1.47");
  equal(fake.engine.apiVersion, "1.47");
});

Deno.test("close() ends pending requests, closes all connections, and stays closed", async () => {
  await using raw = rawEngine(async (connection) => {
    for (let text = await connection.request(); text; text = await connection.request()) {
      if (text.includes("/fast ")) await connection.write(OK);
      if (text.includes("/stream ")) await connection.write("HTTP/1.1 200 OK\r\n\r\na");
    }
  });
  await Promise.all([1, 2, 3].map(() => raw.engine.json("GET", "/fast")));
  const slow = reasonOf(raw.engine.json("GET", "/slow"));
  const { body } = await raw.engine.request("GET", "/stream");
  const stream = reasonOf(textOf(body));
  await until("the slow request arrived", () => raw.requests.includes("GET /slow"));

  raw.engine.close();

  equal(await slow, "closed");
  equal(await stream, "closed");
  equal(await reasonOf(raw.engine.json("GET", "/fast")), "closed");
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("idle connections are closed after a delay", async () => {
  await using raw = rawEngine(always(OK), { idleMs: 20 });
  await Promise.all([1, 2, 3].map(() => raw.engine.json("GET", "/a")));
  ok(raw.accepted > 1);
  await until("every connection is closed", () => raw.open === 0);
  await raw.engine.json("GET", "/a");
  equal(raw.open, 1);
});

Deno.test("a thousand requests with all outcomes leave no connection open", async () => {
  await using raw = rawEngine(async (connection) => {
    while (await connection.request()) {
      switch (raw.requests.length % 6) {
        case 0:
          return;
        case 1:
          return await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
        case 2:
          return await connection.write("garbage\r\n\r\n");
        case 3:
          return await connection.ended();
        case 4:
          await connection.write(jsonAnswer({ message: "no" }, "404 Not Found"));
          break;
        default:
          await connection.write(OK);
      }
    }
  }, { connectionsMax: 8 });
  let number = 0;
  let failures = 0;
  const sendRequests = async () => {
    while (number++ < 1000) {
      await raw.engine.json("GET", "/a", {
        headTimeoutMs: 100,
        ...(number % 3 === 0 ? { signal: AbortSignal.timeout(number % 50) } : {}),
      }).catch(() => failures++);
    }
  };
  // As many as there are connections: a request that waits for one may time out without being sent.
  await Promise.all(Array.from({ length: 8 }, sendRequests));
  // The number of requests depends on the machine, but each kind of response was sent.
  ok(raw.requests.length > 6);
  ok(failures > 0);
  raw.engine.close();
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("frames in a response of the fake engine are not modified", async () => {
  await using fake = fakeEngine({
    "GET /containers/*/logs": ({ parts }) => new Response(outputFrame("stderr", parts[0]!)),
  });
  const response = await fake.engine.request("GET", "/containers/c1/logs");
  deepEqual(await response.bytes(), outputFrame("stderr", "c1"));
});
