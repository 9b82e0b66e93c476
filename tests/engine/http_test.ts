import { deepEqual, equal, throws } from "node:assert/strict";
import { EngineProtocolError } from "../../engine/errors.ts";
import { encodeRequest, parseHead } from "../../engine/http.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("a request without a body has a length only for methods that expect one", () => {
  equal(
    text(encodeRequest({ method: "GET", target: "/a?b=c" })),
    "GET /a?b=c HTTP/1.1\r\nHost: engine\r\n\r\n",
  );
  equal(
    text(encodeRequest({ method: "POST", target: "/a" })),
    "POST /a HTTP/1.1\r\nHost: engine\r\nContent-Length: 0\r\n\r\n",
  );
});

Deno.test("a request's length counts bytes, not characters", () => {
  equal(
    text(encodeRequest({ method: "POST", target: "/a", body: '"é€"', headers: { "X-A": "b" } })),
    "POST /a HTTP/1.1\r\nHost: engine\r\nX-A: b\r\nContent-Type: application/json\r\n" +
      'Content-Length: 7\r\n\r\n"é€"',
  );
});

for (
  const target of ["/a b", "/a\r\nX: y", "/a\nb", "/é", "/a\x00", ""]
) {
  Deno.test(`a request to ${JSON.stringify(target)} is never sent`, () => {
    throws(() => encodeRequest({ method: "GET", target }), TypeError);
  });
}

for (const headers of [{ "a b": "c" }, { "a:": "c" }, { a: "b\r\nc: d" }, { a: "b\nc" }]) {
  Deno.test(`a request with the header ${JSON.stringify(headers)} is never sent`, () => {
    throws(() => encodeRequest({ method: "GET", target: "/", headers }), TypeError);
  });
}

Deno.test("a head is read with names in lower case and repeated values joined", () => {
  const head = parseHead("HTTP/1.1 404 Not Found\r\nX-A:  b \r\nEmpty:\r\nx-a: c:d");
  equal(head.status, 404);
  deepEqual([...head.headers], [["x-a", "b, c:d"], ["empty", ""]]);
  equal(head.keepsAlive, true);
});

Deno.test("a connection is reusable unless the response says otherwise", () => {
  equal(parseHead("HTTP/1.1 200 OK\r\nConnection: Close").keepsAlive, false);
  equal(parseHead("HTTP/1.1 200 OK\r\nConnection: keep-alive").keepsAlive, true);
  equal(parseHead("HTTP/1.0 200 OK").keepsAlive, false);
  equal(parseHead("HTTP/1.1 200").status, 200);
});

for (
  const wrong of [
    "",
    "hello",
    "HTTP/2 200 OK",
    "HTTP/1.1 20 OK",
    "HTTP/1.1 2000 OK",
    "HTTP/1.1 099 No",
    "HTTP/1.1 200 OK\r\nno colon",
    "HTTP/1.1 200 OK\r\nA : b",
    "HTTP/1.1 200 OK\r\n: b",
    "HTTP/1.1 200 OK\r\nA: b\r\n folded",
    "HTTP/1.1 200 OK\r\n" + "a: b\r\n".repeat(200) + "c: d",
  ]
) {
  Deno.test(`${JSON.stringify(wrong.slice(0, 40))} is refused as a head`, () => {
    throws(() => parseHead(wrong), EngineProtocolError);
  });
}
