import { deepEqual, doesNotMatch, equal } from "node:assert/strict";
import * as z from "zod";
import { checkShape } from "../../../services/input/check.ts";

const issuesOf = (shape: z.ZodType, input: unknown) => {
  const checked = checkShape(shape, input, "body");
  return "issues" in checked
    ? checked.issues.map(({ path, message }) => `${path}: ${message}`)
    : [];
};

const Choice = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("tcp"), port: z.int() }),
  z.object({ kind: z.literal("http"), url: z.url() }),
]);

for (
  const [shape, input, ...messages] of [
    [z.string(), undefined, "body: is required"],
    [z.string(), 7, "body: must be a string, not a number"],
    [z.number(), "7", "body: must be a number, not a string"],
    [z.int(), "7", "body: must be a number, not a string"],
    [z.int(), 1.5, "body: must be a whole number"],
    [z.number(), 1e999, "body: must be a number, not an infinite number"],
    [z.boolean(), null, "body: must be true or false, not null"],
    [z.object({}), [1], "body: must be an object, not an array"],
    [z.record(z.string(), z.string()), true, "body: must be an object, not a boolean"],
    [z.array(z.string()), {}, "body: must be an array, not an object"],
    [z.null(), 1, "body: must be null, not a number"],
    [z.tuple([z.string()]), ["a", "b"], "body: must have at most 1 entry"],
    [z.number().min(5), 4, "body: must be at least 5"],
    [z.number().gt(5), 5, "body: must be more than 5"],
    [z.number().max(5), 6, "body: must be at most 5"],
    [z.number().lt(5), 5, "body: must be less than 5"],
    [z.int(), 2 ** 53, "body: must be at most 9007199254740991"],
    [z.number().multipleOf(5), 6, "body: must be a multiple of 5"],
    [z.string().min(1), "", "body: must not be empty"],
    [z.string().min(12), "short", "body: must have at least 12 characters"],
    [z.string().max(3), "long", "body: must have at most 3 characters"],
    [z.string().length(2), "one", "body: must have exactly 2 characters"],
    [z.array(z.string()).min(1), [], "body: must not be empty"],
    [z.array(z.string()).max(1), ["a", "b"], "body: must have at most 1 entry"],
    [z.enum(["a", "b", "c"]), "d", "body: must be one of a, b, c"],
    [z.literal("a"), "d", "body: must be a"],
    [z.url(), "bob", "body: must be a URL"],
    [z.iso.date(), "today", "body: must be a date such as 2026-01-31"],
    [z.iso.datetime(), "now", "body: must be an ISO 8601 time such as 2026-01-31T12:00:00Z"],
    [z.nanoid(), "!", "body: must be in another format"],
    [z.string().regex(/^a$/), "b", "body: must match /^a$/"],
    [z.string().startsWith("a"), "b", "body: must start with a"],
    [z.string().endsWith("a"), "b", "body: must end with a"],
    [z.string().includes("a"), "b", "body: must contain a"],
    [z.strictObject({ a: z.string() }), { a: "a", b: 1 }, "body.b: unknown field; known fields: a"],
    [
      z.record(z.string().max(1), z.string()),
      { ab: "a" },
      "body.ab: has a name that is not allowed",
    ],
    [z.string().refine(() => false), "a", "body: is not valid"],
    [z.string().refine(() => false, { error: "must be even" }), "a", "body: must be even"],
    [z.union([z.int(), z.string().max(3)]), "long", "body: must have at most 3 characters"],
    [z.union([z.int(), z.string()]), true, [
      "body: must be a number or a string",
    ]],
    [z.union([z.object({ a: z.int() }), z.string()]), { a: "x" }, [
      "body.a: must be a number, not a string",
    ]],
    [z.union([z.int(), z.string()], { error: "must be a status" }), true, "body: must be a status"],
    [Choice, { kind: "udp" }, "body.kind: must be one of tcp, http"],
    [Choice, { kind: "tcp" }, "body.port: is required"],
    [z.object({ a: z.string(), b: z.object({ c: z.array(z.int()) }) }), { b: { c: [1, "x"] } }, [
      "body.a: is required",
      "body.b.c.1: must be a number, not a string",
    ]],
  ] as [z.ZodType, unknown, string | string[]][]
) {
  const expected = messages.flat();
  Deno.test(`input is refused with ${expected.join(", ")}`, () => {
    const issues = issuesOf(shape, input);
    deepEqual(issues, expected);
    doesNotMatch(issues.join(), /Invalid|expected|received|Too /);
  });
}

Deno.test("a message never has the value, which may be a secret", () => {
  const shape = z.object({ password: z.string().min(12).regex(/^\w+$/), kind: z.enum(["a"]) });
  const issues = issuesOf(shape, { password: "hunter2!", kind: "hunter2!" });
  equal(issues.length, 3);
  doesNotMatch(issues.join(), /hunter2/);
});

Deno.test("what fits is read, with defaults and without what is unknown", () => {
  const shape = z.object({ a: z.string().trim(), b: z.int().default(7) });
  deepEqual(checkShape(shape, { a: " x ", c: 1 }, "body"), { data: { a: "x", b: 7 } });
});
