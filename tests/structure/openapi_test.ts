/**
 * The API document: equal to its snapshot, so that every change of the contract shows in review.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { currentDocument } from "../../commands/openapi.ts";

const SNAPSHOT = new URL("./openapi.snapshot.json", import.meta.url);

Deno.test("the API document equals its snapshot (deno task openapi:accept takes a change over)", async () => {
  deepEqual(
    JSON.parse(JSON.stringify(await currentDocument())),
    JSON.parse(await Deno.readTextFile(SNAPSHOT)),
  );
});

interface Operation {
  operationId: string;
  "x-edition": string;
  summary: string;
  parameters: { name: string; in: string; schema: Record<string, unknown> }[];
  requestBody?: unknown;
  responses: Record<string, unknown>;
}

const operations = Object.entries((await currentDocument()).paths).flatMap(([path, methods]) =>
  Object.values(methods).map((operation) => ({ path, operation: operation as Operation }))
);

Deno.test("every operation has an id of its own", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  equal(new Set(ids).size, ids.length);
});

Deno.test("every parameter of a path is declared, and has a type", () => {
  for (const { path, operation } of operations) {
    const declared = operation.parameters.filter((each) => each.in === "path");
    deepEqual(
      declared.map(({ name }) => name).sort(),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
      path,
    );
    for (const { name, schema } of operation.parameters) {
      equal("type" in schema || "anyOf" in schema || "enum" in schema, true, `${path} ${name}`);
    }
  }
});

/** Pages and feeds, which are not put together from examples, and the document itself. */
const WITHOUT_EXAMPLES = /^(\/|\/openapi\.json|\/docs(\/.*)?)$/;

Deno.test("every endpoint of the Community Edition shows examples", () => {
  const missing = operations.filter(({ path, operation }) =>
    operation["x-edition"] === "ce" && !WITHOUT_EXAMPLES.test(path) &&
    ![operation.requestBody, operation.responses]
      .every((part) => part === undefined || JSON.stringify(part).includes('"example":'))
  );
  deepEqual(missing.map(({ operation }) => operation.operationId), []);
});

Deno.test("every reference of the document leads somewhere", async () => {
  const document = JSON.parse(JSON.stringify(await currentDocument()));
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)];
  for (const [, pointer] of references) {
    const found = pointer!.split("/").reduce((at, part) => at?.[part], document);
    equal(typeof found, "object", pointer);
  }
});
