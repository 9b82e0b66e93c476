import { deepEqual, equal } from "node:assert/strict";
import type { Operation, Resolve, Schema } from "../../ui/pages/api/document.ts";
import { composeRequest, curlLine } from "../../ui/pages/api/request.ts";
import { schemaWriter } from "../../ui/pages/api/schema.ts";

const NODE: Schema = {
  type: "object",
  description: "A part of a tree",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 63 },
    kind: { enum: ["leaf", "branch"], default: "leaf" },
    parts: { type: "array", items: { $ref: "node" }, minItems: 1 },
    since: { type: "string", format: "date-time", pattern: "ignored" },
    share: { type: "number", exclusiveMinimum: 0, maximum: 1 },
    labels: { type: "object", additionalProperties: { type: ["string", "null"] } },
  },
  required: ["name", "labels"],
};

const resolve: Resolve = ({ $ref, ...own }) =>
  ($ref === "node" ? { ...NODE, ...own } : own) as never;

const writer = schemaWriter(resolve);

const textOf = (schema: Schema) =>
  writer.lines(schema).map(({ text, note }) => note ? `${text} // ${note}` : text);

Deno.test("a schema is written as a type, with notes on what the type does not say", () => {
  const { parts: _, ...properties } = NODE.properties!;
  deepEqual(textOf({ ...NODE, properties }), [
    "{ // A part of a tree",
    "  name: string // 1 to 63 characters",
    '  kind?: "leaf" | "branch" // default "leaf"',
    "  since?: string // date-time",
    "  share?: number // 0 to 1; not 0 itself",
    "  labels: {",
    "    [name: string]: string | null",
    "  }",
    "}",
  ]);
});

Deno.test("a list of objects and a choice of objects are written around their fields", () => {
  const id: Schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  deepEqual(textOf({ type: "array", description: "All", items: id }), [
    "Array<{ // All",
    "  id: string",
    "}>",
  ]);
  deepEqual(textOf({ anyOf: [id, { type: "null" }] }), ["{", "  id: string", "}", "| null"]);
  equal(writer.typeName({ type: "array", items: { enum: ["a", "b"] } }), '("a" | "b")[]');
});

Deno.test("a schema that contains itself ends", () => {
  const text = textOf({ $ref: "node" });
  equal(text[0], "{ // A part of a tree");
  equal(text.length < 200, true);
});

Deno.test("the example of a body has its required fields", () => {
  deepEqual(writer.exampleOf({ $ref: "node" }), { name: "", labels: {} });
  deepEqual(writer.exampleOf({ $ref: "node", example: { name: "a" } }), { name: "a" });
  equal(writer.exampleOf({ anyOf: [{ type: "null" }, { type: "integer", minimum: 3 }] }), 3);
});

const OPERATION: Operation = {
  ...{ id: "tagImage", method: "POST", path: "/api/images/{id}/tag", summary: "", description: "" },
  parameters: [
    { name: "id", in: "path", required: true },
    { name: "force", in: "query" },
    { name: "If-Match", in: "header" },
  ],
  ...{ body: {}, responses: [], needsToken: true, role: "admin", permission: undefined },
  ...{ isDestructive: false, words: "" },
};

Deno.test("a request has the parameters that were entered, where they belong", () => {
  const values = { "path.id": "a/b $&", "query.force": "1", "header.If-Match": "x", body: " {} " };
  const { url, ...request } = composeRequest(OPERATION, values);

  equal(url.split("/api/")[1], "images/a%2Fb%20%24%26/tag?force=1");
  const headers = { "If-Match": "x", "Content-Type": "application/json" };
  deepEqual(request, { method: "POST", headers, body: "{}" });
  equal(composeRequest(OPERATION, {}).url.split("/api/")[1], "images/{id}/tag");
});

Deno.test("the curl command is quoted for a shell", () => {
  const values = { "path.id": "web", body: `{\n "name": "it's"\n}` };
  const command = curlLine(OPERATION, composeRequest(OPERATION, values));

  equal(
    command.replace(/'[^' ]+\/api/, "'/api"),
    `curl -X POST -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' ` +
      `-d '{"name":"it'\\''s"}' '/api/images/web/tag'`,
  );
});
