/** Types of the API for the dashboard. @module */

import { equal, match } from "node:assert/strict";
import { apiTypes } from "../../deploy/build/api_types.ts";

Deno.test("apiTypes() prints schemas and operations", () => {
  const text = apiTypes({
    paths: {
      "/api/things/{id}": {
        get: {
          parameters: [
            { name: "id", in: "path", required: true, schema: { type: "string" } },
            { name: "deep", in: "query", schema: { type: "boolean" } },
          ],
          responses: {
            200: {
              content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
            },
          },
        },
        post: {
          requestBody: { content: { "application/json": { schema: { type: "object" } } } },
          responses: { 204: {} },
        },
      },
    },
    components: {
      schemas: {
        Thing: {
          type: "object",
          properties: {
            kind: { enum: ["a", "b"] },
            size: { anyOf: [{ type: "integer" }, { type: "null" }] },
            "x-tags": { type: "array", items: { type: "string" } },
          },
          required: ["kind", "size"],
        },
      },
    },
  });

  match(
    text,
    /export type Thing = \{ kind: "a" \| "b"; size: number \| null; "x-tags"\?: \(string\)\[\] \};/,
  );
  match(
    text,
    /"GET \/api\/things\/\{id\}": \{ path: \{ id: string \}; query\?: \{ deep\?: boolean \}; result: Thing \};/,
  );
  match(
    text,
    /"POST \/api\/things\/\{id\}": \{ body: Record<string, unknown> \| undefined; result: undefined \};/,
  );
});

Deno.test("ui/api/types.ts matches the API document (deno task openapi:accept)", async () => {
  const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const text = apiTypes(JSON.parse(await read("tests/structure/openapi.snapshot.json")));

  equal(compact(await read("ui/api/types.ts")), compact(text));
});

/** Without what the formatter adds: spaces, the last commas and parentheses around types. */
const compact = (text: string) => text.replace(/[\s();,|]/g, "");
