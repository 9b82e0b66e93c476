import { deepEqual, equal, ok } from "node:assert/strict";
import * as z from "zod";
import { ISSUES_MAX } from "../../../services/errors.ts";
import { checkShape } from "../../../services/input/check.ts";

const Inner = z.strictObject({ port: z.int() });

const issuesOf = (shape: z.ZodType, input: unknown) => {
  const read = checkShape(shape, input, "body");
  return "issues" in read ? read.issues : [];
};

const pathsOf = (shape: z.ZodType, input: unknown) =>
  issuesOf(shape, input).map(({ path }) => path);

for (
  const [where, shape, input, paths] of [
    ["an object", Inner, { port: 1, prot: 2 }, ["body.prot"]],
    [
      "an optional, nullable object with a default",
      z.strictObject({ a: Inner.optional().nullable().default({ port: 1 }).readonly() }),
      { a: { port: 1, b: 2 } },
      ["body.a.b"],
    ],
    ["the objects of an array", z.strictObject({ list: z.array(Inner) }), {
      list: [{ port: 1 }, { port: 1, a: 1 }],
    }, ["body.list.1.a"]],
    ["the values of a record, whose names are free", z.record(z.string(), Inner), {
      any: { port: 1, a: 1 },
    }, ["body.any.a"]],
    [
      "the option of a union with the fewest problems",
      z.union([
        z.strictObject({ a: z.string(), e: z.string() }),
        z.strictObject({ b: z.string() }),
      ]),
      { b: "x", a: 1 },
      ["body.a"],
    ],
    [
      "a preprocessed, refined and transformed object",
      z.preprocess((value) => value, Inner.refine(() => true).transform(({ port }) => port)),
      { port: 1, a: 1 },
      ["body.a"],
    ],
    [
      "names that every object inherits",
      Inner,
      JSON.parse(`{"port":1,"constructor":1,"__proto__":1,"toString":1}`),
      ["body.constructor", "body.__proto__", "body.toString"],
    ],
  ] as [where: string, shape: z.ZodType, input: unknown, paths: string[]][]
) {
  Deno.test(`unknown fields are found in ${where}`, () => deepEqual(pathsOf(shape, input), paths));
}

Deno.test("a message names the nearest field and all known ones, before other problems", () => {
  const shape = z.strictObject({ name: z.string(), autoIncident: z.boolean(), inner: Inner });
  deepEqual(issuesOf(shape, { autoincident: true, x: 1, inner: { port: 1, prot: 1 } }), [
    {
      path: "body.inner.prot",
      message: "unknown field; did you mean port? Known fields: port",
    },
    {
      path: "body.autoincident",
      message: "unknown field; did you mean autoIncident? Known fields: name, autoIncident, inner",
    },
    { path: "body.x", message: "unknown field; known fields: name, autoIncident, inner" },
    { path: "body.name", message: "is required" },
    { path: "body.autoIncident", message: "is required" },
  ]);
});

Deno.test("a flood of unknown fields with long names costs one short answer", () => {
  const input = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, i) => [`${i}`.padStart(1_000, "x"), i]),
  );
  const issues = issuesOf(Inner.partial(), input);
  equal(issues.length, ISSUES_MAX);
  ok(issues.every(({ path }) => path.length <= "body.".length + 100));
});
