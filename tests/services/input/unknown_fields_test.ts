import { deepEqual, equal, ok } from "node:assert/strict";
import * as z from "zod";
import { ISSUES_MAX } from "../../../services/errors.ts";
import { checkFields } from "../../../services/input/check.ts";
import { unknownFields } from "../../../services/input/unknown_fields.ts";

const Inner = z.object({ port: z.int() });

const pathsOf = (shape: z.ZodType, input: unknown) =>
  [...unknownFields(shape, input)].map(({ path }) => path.join("."));

for (
  const [where, shape, input, paths] of [
    ["an object", Inner, { port: 1, prot: 2 }, ["prot"]],
    [
      "an optional, nullable object with a default",
      z.object({ a: Inner.optional().nullable().default({ port: 1 }).readonly() }),
      { a: { port: 1, b: 2 } },
      ["a.b"],
    ],
    ["the objects of an array", z.object({ list: z.array(Inner) }), {
      list: [{ port: 1 }, { port: 1, a: 1 }],
    }, ["list.1.a"]],
    ["a tuple", z.tuple([z.string(), Inner]), ["a", { a: 1 }], ["1.a"]],
    ["the values of a record, whose names are free", z.record(z.string(), Inner), {
      any: { port: 1, a: 1 },
    }, ["any.a"]],
    [
      "the option of a union that takes the input",
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      { b: "x", a: 1 },
      ["a"],
    ],
    [
      "the option of a union with the fewest, if none takes it",
      z.union([z.object({ a: z.string() }), z.object({ b: z.string(), c: z.string() })]),
      { c: 1, d: 1 },
      ["d"],
    ],
    [
      "both sides of an intersection",
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
      { a: "a", b: "b", c: "c" },
      ["c"],
    ],
    [
      "a preprocessed, refined and transformed object",
      z.preprocess((value) => value, Inner.refine(() => true).transform(({ port }) => port)),
      { port: 1, a: 1 },
      ["a"],
    ],
    ["a lazy object", z.lazy(() => Inner), { a: 1 }, ["a"]],
    ["a strict object", z.strictObject({}), { a: 1 }, ["a"]],
    [
      "names that every object inherits",
      Inner,
      JSON.parse(`{"constructor":1,"__proto__":1,"toString":1}`),
      ["constructor", "__proto__", "toString"],
    ],
  ] as [where: string, shape: z.ZodType, input: unknown, paths: string[]][]
) {
  Deno.test(`unknown fields are found in ${where}`, () => deepEqual(pathsOf(shape, input), paths));
}

Deno.test("free-form values have no unknown fields", () => {
  const shape = z.object({
    labels: z.record(z.string(), z.string()),
    metadata: z.unknown(),
    payload: z.record(z.string(), z.unknown()),
    open: z.looseObject({}),
  });
  const free = { a: { b: [{ c: 1 }] } };
  deepEqual(pathsOf(shape, { labels: { a: "b" }, metadata: free, payload: free, open: free }), []);
});

Deno.test("input of another type is left to the shape", () => {
  for (const input of [undefined, null, "text", 7, true, [{ a: 1 }]]) {
    deepEqual(pathsOf(Inner, input), []);
  }
});

Deno.test("a message names the nearest field and all known ones", () => {
  const shape = z.object({ name: z.string(), autoIncident: z.boolean(), inner: Inner });
  deepEqual(checkFields(shape, { autoincident: true, x: 1, inner: { prot: 1 } }, "body"), [
    {
      path: "body.autoincident",
      message: "unknown field; did you mean autoIncident? Known fields: name, autoIncident, inner",
    },
    { path: "body.x", message: "unknown field; known fields: name, autoIncident, inner" },
    { path: "body.inner.prot", message: "unknown field; did you mean port? Known fields: port" },
  ]);
});

Deno.test("a flood of unknown fields with long names costs one short answer", () => {
  const input = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, i) => [`${i}`.padStart(1_000, "x"), i]),
  );
  const issues = checkFields(Inner, input, "body");
  equal(issues.length, ISSUES_MAX);
  ok(issues.every(({ path }) => path.length <= "body.".length + 100));
});
