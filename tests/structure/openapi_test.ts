/**
 * The API document: equal to its snapshot, so that every change of the contract shows in review.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { currentDocument } from "../../commands/openapi.ts";
import { apiDocument, dereferenced } from "../helpers/api_document.ts";

Deno.test("the API document equals its snapshot (deno task openapi:accept accepts a change)", async () => {
  deepEqual(JSON.parse(JSON.stringify(await currentDocument())), apiDocument);
});

Deno.test("the generated clients have passed with this API document (deno task clients)", async () => {
  const folder = new URL("../clients/", import.meta.url);
  const passed = await Deno.readTextFile(new URL("passed.sha256", folder));
  const sums = passed.trimEnd().split("\n").map((line) => line.split("  "));
  for (const [sum, file] of sums) {
    const bytes = await Deno.readFile(new URL(file!, folder));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    equal(digest.toHex(), sum, file);
  }
  const own = [...Deno.readDirSync(folder)].map(({ name }) => name);
  deepEqual(
    sums.map(([, file]) => file).sort(),
    ["../structure/openapi.snapshot.json", ...own].filter((each) => each !== "passed.sha256")
      .sort(),
  );
});

interface Operation {
  operationId: string;
  "x-edition": string;
  summary: string;
  tags: string[];
  parameters: (Parameter | { $ref: string })[];
  requestBody?: unknown;
  responses: Record<string, { content?: Record<string, { schema: Record<string, unknown> }> }>;
}

interface Parameter {
  name: string;
  in: string;
  schema: Record<string, unknown>;
}

const operations = Object.entries(apiDocument.paths as Record<string, Record<string, Operation>>)
  .flatMap(([path, methods]) => Object.values(methods).map((operation) => ({ path, operation })));

const parametersOf = ({ parameters }: Operation): Parameter[] => parameters.map(dereferenced);

/** With everything that it references. */
function expanded(part: unknown, seen = new Set<string>()): string {
  const text = JSON.stringify(part ?? null);
  for (const [, reference] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
    if (seen.has(reference!)) continue;
    seen.add(reference!);
    expanded(dereferenced({ $ref: reference }), seen);
  }
  return text +
    [...seen].map((reference) => JSON.stringify(dereferenced({ $ref: reference }))).join("");
}

Deno.test("every operation has a unique id that is a name", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  equal(new Set(ids).size, ids.length);
  for (const id of ids) match(id, /^[a-z]+[A-Za-z]*$/);
});

Deno.test("every summary is unique, has two to six words and no full stop", () => {
  const summaries = operations.map(({ operation }) => operation.summary);
  equal(new Set(summaries).size, summaries.length);
  for (const summary of summaries) match(summary, /^[A-Z]\S*( \S+){1,5}[^.]$/);
});

Deno.test("every parameter of a path is declared, and has a type", () => {
  for (const { path, operation } of operations) {
    const parameters = parametersOf(operation);
    const declared = parameters.filter((each) => each.in === "path");
    deepEqual(
      declared.map(({ name }) => name).sort(),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
      path,
    );
    for (const { name, schema } of parameters) {
      const typed = ["type", "anyOf", "enum", "$ref"].some((key) => key in schema);
      equal(typed, true, `${path} ${name}`);
    }
  }
});

Deno.test("the JSON body of every request and response is a named schema", () => {
  const unnamed = operations.flatMap(({ operation }) =>
    [operation.requestBody as Operation["responses"][string], ...Object.values(operation.responses)]
      .map((part) => part?.content?.["application/json"]?.schema)
      // Webhooks come as each forge sends them.
      .filter((schema) => schema !== undefined && !("$ref" in schema) && schema.format !== "binary")
      .map(() => operation.operationId)
  );
  deepEqual(unnamed, []);
});

Deno.test("every example of a schema fits its schema's pattern and format", () => {
  const faults: string[] = [];
  JSON.stringify(apiDocument, (key, value) => {
    const { pattern, example } = value ?? {};
    if (typeof pattern === "string" && typeof example === "string") {
      if (!new RegExp(pattern, "u").test(example)) faults.push(`${key}: ${example}`);
    }
    return value;
  });
  deepEqual(faults, []);
});

/** Pages and feeds, which have no examples, and the document itself. */
const WITHOUT_EXAMPLES = /^(\/|\/openapi\.json|\/docs)$/;

Deno.test("every endpoint of the Community Edition shows examples", () => {
  const missing = operations.filter(({ path, operation }) =>
    operation["x-edition"] === "ce" && !WITHOUT_EXAMPLES.test(path) &&
    ![operation.requestBody, operation.responses]
      .every((part) => part === undefined || /"example":|"format":"binary"/.test(expanded(part)))
  );
  deepEqual(missing.map(({ operation }) => operation.operationId), []);
});

Deno.test("every reference of the document leads somewhere", () => {
  for (const [, reference] of JSON.stringify(apiDocument).matchAll(/"\$ref":"([^"]+)"/g)) {
    equal(typeof dereferenced({ $ref: reference }), "object", reference);
  }
});
