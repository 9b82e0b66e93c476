/**
 * Prints TypeScript types of the API, for the dashboard: one interface for each named schema and one
 * entry for each operation of the API document.
 *
 *     deno run -R deploy/build/api_types.ts openapi.json
 *
 * @module
 */

/** The parts of a JSON schema that the API document uses. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

interface Operation {
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

/** The parts of an OpenAPI 3.1 document that are read. */
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; parameters?: Record<string, Parameter> };
}

const HEAD = `/**
 * Types of the API, generated from its document by \`deno task openapi:accept\`.
 *
 * @module
 */
`;

const JSON_TYPE = "application/json";

/** The types as the text of a module, not formatted. */
export function apiTypes({ paths, components }: ApiDocument): string {
  const schemas = Object.entries(components.schemas)
    .sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, schema]) => `export type ${typeName(name)} = ${typeOf(schema)};\n`);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      `  "${method.toUpperCase()} ${path}": ${operationType(operation, components)};`
    )
  );
  return [
    HEAD,
    ...schemas,
    "/** Input and result of each operation, by method and path. */",
    "export interface Operations {",
    ...operations.sort(),
    "}",
  ].join("\n");
}

function operationType(operation: Operation, components: ApiDocument["components"]): string {
  const parameters = (operation.parameters ?? []).map((each) =>
    each.$ref === undefined ? each : components.parameters![lastOf(each.$ref)]!
  );
  const inQuery = parameters.filter((each) => each.in === "query");
  const fields = [
    ["path", fieldsOf(parameters.filter((each) => each.in === "path"))],
    [inQuery.some(({ required }) => required) ? "query" : "query?", fieldsOf(inQuery)],
    ["body", bodyOf(operation.requestBody)],
    ["result", resultOf(operation)],
  ].filter(([, type]) => type !== undefined);
  return `{ ${fields.map(([name, type]) => `${name}: ${type}`).join("; ")} }`;
}

function fieldsOf(parameters: Parameter[]): string | undefined {
  if (parameters.length === 0) return undefined;
  const fields = parameters.map(({ name, required, schema }) =>
    `${propertyName(name)}${required ? "" : "?"}: ${typeOf(schema)}`
  );
  return `{ ${fields.join("; ")} }`;
}

function bodyOf(body: Operation["requestBody"]): string | undefined {
  const schema = body?.content[JSON_TYPE]?.schema;
  if (!schema) return undefined;
  return body.required ? typeOf(schema) : `${typeOf(schema)} | undefined`;
}

function resultOf({ responses }: Operation): string {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  if (successes.length === 0) return "undefined";
  return union(successes.map(([, { content }]) => {
    if (!content) return "undefined";
    const json = content[JSON_TYPE];
    return json ? typeOf(json.schema) : "string";
  }));
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return typeName(lastOf(schema.$ref));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return union(choices.map(typeOf));
  if (schema.allOf) return schema.allOf.map((each) => `(${typeOf(each)})`).join(" & ");
  if (Array.isArray(schema.type)) {
    return union(schema.type.map((type) => typeOf({ ...schema, type })));
  }
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return schema.prefixItems
        ? `[${schema.prefixItems.map(typeOf).join(", ")}]`
        : `(${typeOf(schema.items ?? {})})[]`;
    case "object":
      return objectType(schema);
    default:
      return "unknown";
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(([name, schema]) =>
    `${propertyName(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`
  );
  const rest = typeof additionalProperties === "object" && Object.keys(additionalProperties).length
    ? typeOf(additionalProperties)
    : "unknown";
  if (fields.length === 0) return `Record<string, ${rest}>`;
  return `{ ${fields.join("; ")} }`;
}

const union = (types: string[]) => [...new Set(types)].join(" | ");

const lastOf = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

const typeName = (name: string) => name.replace(/\W/g, "_");

const propertyName = (name: string) => /^[a-zA-Z_]\w*$/.test(name) ? name : JSON.stringify(name);

if (import.meta.main) {
  console.log(apiTypes(JSON.parse(Deno.readTextFileSync(Deno.args[0]!))));
}
