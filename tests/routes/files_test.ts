import { deepEqual, equal, match } from "node:assert/strict";
import { conditionOf, downloadResponse, rangeOf } from "../../routes/files/http.ts";
import { createLimiters } from "../../services/access/limiters.ts";
import { openDownload } from "../../services/files/download.ts";
import type { Place } from "../../services/files/place.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { testApp } from "../helpers/test_app.ts";

const PLACES = ["/api/volumes/data", "/api/containers/web", "/api/stacks/shop"];

Deno.test("files are for admins, and not for tokens that are limited to stacks or containers", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web", labels: {} }]));
  using app = testApp({ engine: fake.engine });
  for (const place of PLACES) {
    const path = `${place}/files?path=/`;
    for (const role of ["viewer", "operator"] as const) {
      equal((await app.call("GET", path, undefined, { role })).status, 403, `${role} ${place}`);
    }
    const scope = { userId: "key", stacks: ["shop"], containers: ["web"] };
    const { status, body } = await app.call("GET", path, undefined, { scope });
    equal(status, 404, place);
    match(body.error, /limited to stacks, containers or hosts/);
  }
});

Deno.test("requests for files are in the audit log with their paths", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web", state: "exited" }]));
  using app = testApp({ engine: fake.engine });
  const refused = await app.call("GET", "/api/containers/web/file?path=/etc/passwd");
  equal(refused.status, 409);
  await app.call("POST", "/api/containers/web/files/rename", { path: "/a", to: "/b" });
  const { body: { entries } } = await app.call("GET", "/api/audit");
  deepEqual(
    // deno-lint-ignore no-explicit-any
    entries.map(({ action, targets }: any) => [action, targets.slice(-2).join(" ")]).sort(),
    [
      ["GET /api/containers/:id/file", "web /etc/passwd"],
      ["POST /api/containers/:id/files/rename", "/a /b"],
    ],
  );
});

Deno.test("paths and bodies are checked before anything is asked of the engine", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  const put = (path: string, type: string, headers: Record<string, string> = {}) =>
    app.call("PUT", `/api/containers/web/file?path=${path}`, "x", {
      headers: { "content-type": type, ...headers },
    });
  equal((await put("/a", "text/plain")).status, 428);
  equal((await put("/a", "application/json")).status, 415);
  equal((await put("/", "text/plain", { "if-match": "*" })).status, 400);
  equal((await put("/../a", "text/plain", { "if-match": "*" })).status, 400);
  equal((await put("a", "text/plain", { "if-match": "*" })).status, 400);
  equal(fake.requests.filter((request) => request.includes("/exec")).length, 0);
});

for (
  const [path, header] of [
    ["/conf/app-1.conf", 'filename="app-1.conf"'],
    ["/conf/100%25.txt", "filename*=UTF-8''100%25.txt"],
    ["/a'(b)*\".txt", "filename*=UTF-8''a%27%28b%29%2A%22.txt"],
    ["/%FF\r\n\u00e4", "filename*=UTF-8''%EF%BF%BD%0D%0A%C3%A4"],
  ] as const
) {
  Deno.test(`the download of ${JSON.stringify(path)} is saved as ${header}`, async () => {
    await using fake = fakeEngine(simulateContainers([]));
    const deps = { engine: fake.engine, limiters: createLimiters() };
    const { signal } = new AbortController();
    const download = await openDownload(deps, { userId: "anna" }, () => Promise.resolve(EMPTY), {
      ...{ path, signal },
    });
    const response = downloadResponse(download, false);
    equal(response.headers.get("content-disposition"), `attachment; ${header}`);
  });
}

/** Has empty files. */
const EMPTY = {
  containers: [],
  assertAllowed() {},
  open: () =>
    Promise.resolve({
      info: { size: 0 },
      content: (async function* () {})(),
      close() {},
    }),
} as unknown as Place;

Deno.test("ranges and conditions that are not understood do not become others", () => {
  const range = (value: string) => rangeOf(new Headers({ range: value }));
  deepEqual(range("bytes=0-9"), { from: 0, to: 9 });
  deepEqual(range("bytes=5-"), { from: 5, to: undefined });
  deepEqual(range("bytes=-5"), { from: -5 });
  for (const value of ["bytes=9-0", "bytes=-", "bytes=-0", "bytes=0-1,3-4", "lines=0-1", "x"]) {
    equal(range(value), undefined, value);
  }
  const hash = "a".repeat(64);
  const condition = (headers: Record<string, string>) => conditionOf(new Headers(headers));
  deepEqual(condition({ "if-match": `"x", "${hash}"` }), { content: [hash] });
  deepEqual(condition({ "if-match": `W/"${hash}"` }), { content: [] });
  deepEqual(condition({ "if-match": "*" }), { content: "exists" });
  deepEqual(condition({ "if-none-match": "*" }), { content: "missing" });
  equal(condition({}), undefined);
});
