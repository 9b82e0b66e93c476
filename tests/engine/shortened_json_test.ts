import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { EngineProtocolError } from "../../engine/errors.ts";
import { JsonShortener, LIST_LIMITS, OBJECT_LIMITS } from "../../engine/shortened_json.ts";

const encoder = new TextEncoder();

// deno-lint-ignore no-explicit-any
function shortened(value: unknown, chunkSize = Infinity, limits = LIST_LIMITS): any {
  const bytes = encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
  const shortener = new JsonShortener(limits);
  for (let at = 0; at < bytes.length; at += chunkSize) {
    shortener.write(bytes.subarray(at, at + chunkSize));
  }
  return shortener.end();
}

const usual = [
  {
    Id: "a",
    Names: ["/web"],
    Labels: { "a\\": 'x"}]{', "": "é😀\n\u2028" },
    Ports: [],
    State: null,
  },
  {
    Id: "b",
    Created: -1.5e3,
    Labels: {},
    Nested: [[], [[1, true, false]], [{}, { a: { b: [] } }]],
  },
];

Deno.test("JSON with short texts is kept as it is, when split at any byte", () => {
  for (const text of [JSON.stringify(usual), JSON.stringify(usual, null, 2)]) {
    for (const size of [1, 2, 3, 7, 64, Infinity]) deepEqual(shortened(text, size), usual);
  }
});

for (
  const { character, wire = character } of [
    { character: "x" },
    { character: "é" },
    { character: "€" },
    { character: "😀" },
    { character: "\n", wire: "\\n" },
    { character: '"', wire: '\\"' },
    { character: "<", wire: "\\u003c" },
  ]
) {
  Deno.test(`a long text of ${wire} is cut between two characters`, () => {
    for (let shift = 0; shift < 6; shift++) {
      const before = "-".repeat(shift);
      const text = `{"Id":"a","Command":"${before}${wire.repeat(2_000)}"}`;
      for (const size of [1, 1_000, Infinity]) {
        const { Command, Truncated } = shortened(text, size);
        equal(Truncated, true);
        const wireSize = encoder.encode(wire).length;
        equal(Command, before + character.repeat(Math.floor((1_024 - shift) / wireSize)) + "…");
      }
    }
  });
}

Deno.test("an element of a list says that it was shortened, and others do not", () => {
  const long = "x".repeat(5_000);
  const list = shortened([
    { Id: "a", Labels: { a: "b" } },
    { Id: "b", Labels: { a: long }, Mounts: [{ Source: "/a" }] },
    { Id: "c", Names: [long] },
  ]);
  deepEqual(list.map(({ Truncated }: { Truncated?: true }) => Truncated), [undefined, true, true]);
  deepEqual(list[1].Labels, { a: `${"x".repeat(1_024)}…` });
  equal(list[1].Mounts[0].Truncated, undefined);
  deepEqual(shortened({ Volumes: [{ Name: long }], Warnings: null }).Volumes[0].Truncated, true);
});

Deno.test("of many texts, the first ones and the labels of stacks are kept", () => {
  const labels: Record<string, string> = {};
  for (let number = 0; number < 20_000; number++) labels[`a.${number}`] = "x".repeat(100);
  labels["com.docker.compose.project"] = "shop";
  labels["z"] = "x".repeat(200);
  const [object] = shortened([{ Id: "a", Labels: labels, State: "running" }]);

  equal(object.Truncated, true);
  equal(object.State, "running");
  equal(object.Labels["a.0"], labels["a.0"]);
  equal(object.Labels["com.docker.compose.project"], "shop");
  equal(object.Labels.z, undefined);
  ok(JSON.stringify(object).length < 40_000);

  const env = Array.from({ length: 20_000 }, (_, number) => `${number}=x`);
  const { Config } = shortened({ Config: { Env: env, Image: "app:1" } });
  equal(Config.Image, "app:1");
  deepEqual(Config.Env, env.slice(0, Config.Env.length));
});

Deno.test("objects and numbers are kept, e.g. 10,000 published ports", () => {
  const Ports = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, port) => [
      `${port}/udp`,
      [{ HostIp: "0.0.0.0", HostPort: `${port}` }],
    ]),
  );
  deepEqual(shortened({ NetworkSettings: { Ports } }), { NetworkSettings: { Ports } });
  const container = { Config: { Env: [`KEY=${"x".repeat(8_000)}`] }, NetworkSettings: { Ports } };
  deepEqual(shortened(container, Infinity, OBJECT_LIMITS), container);
});

for (
  const text of [
    "",
    "1",
    '"a"',
    "[1",
    '["a',
    "[1]]",
    "[1] 2",
    "{]",
    '{"a" 1}',
    "[1,,2",
    "}",
    "hello",
  ]
) {
  Deno.test(`what is not JSON is refused: ${text || "nothing"}`, () => {
    throws(() => shortened(text), EngineProtocolError);
  });
}

Deno.test("depth and size are limited", () => {
  throws(() => shortened("[".repeat(100_000)), EngineProtocolError);
  const object = encoder.encode(JSON.stringify({ Labels: { a: "x".repeat(1_000) } }) + ",");
  const shortener = new JsonShortener(LIST_LIMITS);
  shortener.write(encoder.encode("["));
  throws(() => {
    for (let size = 0; size < 128 * 1024 * 1024; size += object.length) shortener.write(object);
  }, /more than 67108864 bytes/);
});
