import { deepEqual, equal, match } from "node:assert/strict";
import { loginByKey } from "../../helpers/accounts.ts";
import { startLongshore } from "../../helpers/longshore.ts";
import { silentLog } from "../../../services/log.ts";
import { testApp } from "../../helpers/test_app.ts";

interface Line {
  message: string;
  status?: number;
  count?: number;
  clients?: string[];
}

function loggedApp(config = {}) {
  const lines: Line[] = [];
  const add = (message: string, fields = {}) => void lines.push({ message, ...fields });
  const app = testApp({ config, log: { ...silentLog, info: add, warn: add } });
  return Object.assign(app, { lines });
}

Deno.test("requests over the rate limit are logged as one summary", async () => {
  using app = loggedApp({ rateLimitPerMinute: 5 });
  const knock = async (times: number, address: string) => {
    for (let n = 0; n < times; n++) {
      await app.call("GET", "/api/webhooks", undefined, { role: "public", address });
    }
  };
  await knock(300, "192.0.2.1");
  await knock(30, "192.0.2.2");
  equal(app.lines.length, 40);

  app.clock.advance({ minutes: 1 });
  await knock(1, "192.0.2.3");
  const [summary, line] = app.lines.slice(40);
  deepEqual([summary!.message, summary!.count, summary!.clients], [
    "requests not logged",
    290,
    ["192.0.2.1", "192.0.2.2"],
  ]);
  deepEqual([line!.message, line!.status], ["request", 401]);
});

Deno.test("log lines about anonymous requests have a total limit", async () => {
  using app = loggedApp();
  for (let n = 0; n < 1_000; n++) {
    const address = `203.0.${n >> 8}.${n & 255}`;
    await app.call("POST", "/api/webhooks", {}, { role: "public", address });
  }
  equal(app.lines.length, 600);
});

Deno.test("every request of an identified caller is logged", async () => {
  using app = loggedApp();
  const { accessToken: token } = await loginByKey(app);
  for (let n = 0; n < 50; n++) await app.call("POST", "/api/webhooks", {}, { token });
  equal(app.lines.filter(({ status }) => status === 400).length, 50);
});

Deno.test("a malformed Host or target is 400, without an error in the log", async () => {
  await using service = await startLongshore();
  const { hostname, port } = new URL(service.baseUrl);
  const statusOf = async (head: string) => {
    using connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(new TextEncoder().encode(`${head}\r\nConnection: close\r\n\r\n`));
    const buffer = new Uint8Array(4_096);
    const read = await connection.read(buffer) ?? 0;
    return Number(new TextDecoder().decode(buffer.subarray(0, read)).split(" ")[1]);
  };
  for (
    const host of [
      "a:99999",
      "a:-1",
      "a:b",
      "[::1",
      "[]",
      "1.2.3.4.5",
      "256.256.256.256",
      "a/livez?",
      "a b",
      "user@a",
      "a:",
      "%00",
      "xn--a",
      ":",
      ":80",
    ]
  ) {
    for (const path of ["/livez", "/", "/api/edition", "/status/x", "/sso/metadata"]) {
      const status = await statusOf(`GET ${path} HTTP/1.1\r\nHost: ${host}`);
      match(String(status), /^([23]0\d|40[0-9])$/, `${host} ${path}: ${status}`);
    }
  }
  equal(await statusOf("GET /livez HTTP/1.1\r\nHost: a:99999"), 400);
  for (
    const target of [
      "//",
      "//a:99999/livez",
      "/%E0%A4%A",
      "/%00",
      "/api/containers/%ff",
      "*",
      "/\\",
      "http://a:99999/",
    ]
  ) {
    const status = await statusOf(`GET ${target} HTTP/1.1\r\nHost: localhost`);
    match(String(status), /^([23]0\d|40[0-9])$/, `${target}: ${status}`);
  }
  const errors = (service.stdout() + service.stderr()).split("\n")
    .filter((line) => line.includes('"level":"error"'));
  deepEqual(errors, []);
});
