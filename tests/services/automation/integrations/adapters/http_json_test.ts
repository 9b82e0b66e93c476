import { deepEqual, equal } from "node:assert/strict";
import { valueAt } from "../../../../../services/automation/integrations/adapters/http_json.ts";
import { fakeSystem } from "../../../../helpers/fake_system.ts";
import { integrate, integrationsApp, pollOnce } from "../../../../helpers/integrations.ts";

const DOCUMENT = {
  queue: { depth: 17, "max-age": "2.5" },
  disks: [{ used: 1 }, { used: 2 }],
  ready: true,
  state: "green",
  nothing: null,
};

Deno.test("http-json stores a record for each mapping", async () => {
  await using system = fakeSystem({ "/status": () => DOCUMENT });
  using app = integrationsApp();
  const id = await integrate(app, "http-json", {
    url: `${system.url}/status?part=all`,
    method: "POST",
    headers: { "X-Api-Key": "secret value" },
    fieldMappings: [
      { path: "queue.depth", name: "depth", unit: "jobs", labels: { queue: "mail" } },
      { path: "queue.max-age", name: "age" },
      { path: "disks.1.used", name: "used" },
      { path: "disks[0].used", name: "used" },
      { path: "ready", name: "ready" },
      { path: "state", name: "state" },
    ],
  });

  const { outcome, data } = await pollOnce(app, id);

  deepEqual(outcome, { ok: true, records: 6, error: null });
  deepEqual(
    data.reverse().map(({ type, name, value, unit, labels, status }) => [
      type,
      name,
      value,
      unit,
      labels,
      status,
    ]),
    [
      ["metric", "depth", 17, "jobs", { queue: "mail" }, null],
      ["metric", "age", 2.5, null, {}, null],
      ["metric", "used", 2, null, {}, null],
      ["metric", "used", 1, null, {}, null],
      ["metric", "ready", 1, null, {}, null],
      ["metric", "state", null, null, {}, "green"],
    ],
  );
  const [asked] = system.asked;
  deepEqual([asked!.method, asked!.path, asked!.headers.get("x-api-key")], [
    "POST",
    "/status?part=all",
    "secret value",
  ]);
});

Deno.test("a mapping without a value is reported, and the rest is stored", async () => {
  await using system = fakeSystem({ "/": () => DOCUMENT });
  using app = integrationsApp();
  const id = await integrate(app, "http-json", {
    url: system.url,
    fieldMappings: [
      { path: "queue.length", name: "length" },
      { path: "disks", name: "disks" },
      { path: "nothing", name: "nothing" },
      { path: "queue.depth", name: "depth" },
      { path: "__proto__.constructor.name", name: "inherited" },
    ],
  });
  deepEqual((await pollOnce(app, id)).outcome, {
    ok: false,
    records: 1,
    error: "fieldMappings.0 (length): path not found; " +
      "fieldMappings.1 (disks): path leads to a list; " +
      "fieldMappings.2 (nothing): path leads to null; " +
      "fieldMappings.4 (inherited): path not found",
  });
});

Deno.test("paths do not find inherited properties", () => {
  const document = JSON.parse(
    `{"a": [{"b": {"c.d": 1, "__proto__": {"e": 2}}}], "length": 3, "0": 4}`,
  );
  for (
    const [path, found] of [
      ["a.0.b.__proto__.e", 2],
      ["a[0].b.__proto__.e", 2],
      ["length", 3],
      ["0", 4],
      ["a.length", undefined],
      ["a.-1", undefined],
      ["a.0.b.constructor", undefined],
      ["a.0.b.toString.name", undefined],
      ["__proto__", undefined],
      ["constructor.prototype", undefined],
      ["length.toFixed", undefined],
    ] as const
  ) equal(valueAt(document, path), found, path);
});

for (
  const [what, change, error] of [
    ["no mappings", { fieldMappings: undefined }, /^body\.config\.fieldMappings: /],
    ["an empty list of mappings", { fieldMappings: [] }, /fieldMappings: /],
    [
      "a path with an empty name",
      { fieldMappings: [{ path: "a..b", name: "x" }] },
      /^body\.config\.fieldMappings\.0\.path: must be at most 20 names and indexes/,
    ],
    [
      "a path that is too long",
      { fieldMappings: [{ path: "a.".repeat(30) + "a", name: "x" }] },
      /^body\.config\.fieldMappings\.0\.path: /,
    ],
    ["another method", { method: "DELETE" }, /^body\.config\.method: /],
    [
      "a connection header",
      { headers: { Host: "other" } },
      /^body\.config\.headers\.Host: belongs to the connection/,
    ],
    [
      "a header with a line break",
      { headers: { "X-A": "b\r\nX-C: d" } },
      /^body\.config\.headers\.X-A: /,
    ],
    ["too many headers", {
      headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, "1"])),
    }, /^body\.config\.headers: must have at most 20 entries/],
  ] as const
) {
  Deno.test(`http-json refuses ${what}`, async () => {
    using app = integrationsApp();
    const answer = await app.call("POST", "/api/integrations", {
      adapter: "http-json",
      name: "x",
      config: {
        url: "http://10.0.0.1/",
        fieldMappings: [{ path: "a", name: "a" }],
        ...change,
      },
    });
    equal(answer.status, 400);
    equal(error.test(answer.body.error), true, answer.body.error);
  });
}
