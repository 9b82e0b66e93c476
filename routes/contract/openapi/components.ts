/** Schemas and parameters of the API document that have a name and are referenced by it. @module */

import * as z from "zod";

type Schema = z.core.JSONSchema.BaseSchema;

/** A parameter of the document. */
export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  schema: Schema;
  description?: string;
  example?: unknown;
  style?: string;
  explode?: boolean;
}

export type Components = ReturnType<typeof createComponents>;

/** Collects what the operations of one document reference. */
export function createComponents() {
  const schemas = new Map<string, Schema>();
  const parameters = new Map<string, Parameter>();

  return {
    /**
     * The JSON Schema of a shape. A shape with an `id` in its metadata becomes a component, and the
     * result references it.
     *
     * @throws {Error} Two different shapes have the same id.
     */
    schemaOf(shape: z.ZodType, io: "input" | "output"): Schema {
      const { $schema: _, $defs = {}, ...schema } = withComponentRefs(jsonSchema(shape, io));
      for (const [id, definition] of Object.entries($defs)) add(schemas, id, definition as Schema);
      return schema;
    },

    /**
     * The parameter itself, or a reference if its schema's metadata names a shared parameter
     * (`parameter`).
     */
    parameterOf({ schema: { parameter: shared, ...schema }, ...rest }: Parameter) {
      const parameter = { ...rest, schema };
      if (typeof shared !== "string") return parameter;
      add(parameters, shared, parameter);
      return { $ref: `#/components/parameters/${shared}` };
    },

    schemas: () => sorted(schemas),
    parameters: () => sorted(parameters),
  };
}

function add<Value>(all: Map<string, Value>, id: string, value: Value): void {
  const known = all.get(id);
  if (known === undefined) all.set(id, value);
  else if (JSON.stringify(known) !== JSON.stringify(value)) {
    throw new Error(
      `Two components are named ${id}:\n${JSON.stringify(known)}\n${JSON.stringify(value)}`,
    );
  }
}

const sorted = <Value>(all: Map<string, Value>): Record<string, Value> =>
  Object.fromEntries([...all].sort(([a], [b]) => a < b ? -1 : 1));

function jsonSchema(shape: z.ZodType, io: "input" | "output"): Schema {
  return z.toJSONSchema(shape, { io, unrepresentable: "any", override: adjust });
}

function adjust({ zodSchema, jsonSchema }: {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: Schema;
}): void {
  // The format says it; the pattern of a date and time has 300 characters.
  if (jsonSchema.format === "date-time" || jsonSchema.format === "date") delete jsonSchema.pattern;
  nameKeys(jsonSchema);
  if (jsonSchema.properties) {
    // Bodies with unknown fields are refused, and responses have none. Last in both cases, so that
    // a shape for input and output is one component.
    const { additionalProperties = false } = jsonSchema;
    delete jsonSchema.additionalProperties;
    jsonSchema.additionalProperties = additionalProperties;
  }
  for (const { flags, source } of zodSchema._zod.bag.patterns as Set<RegExp> | undefined ?? []) {
    // JSON Schema has no flags, and would refuse what the service accepts.
    if (flags.includes("i")) throw new Error(`The pattern ${source} needs the flag i`);
  }
}

/** A record with known keys, as the object with these properties: clients get a type for it. */
function nameKeys(schema: Schema): void {
  const { enum: keys } = (schema.propertyNames ?? {}) as { enum?: string[] };
  if (keys === undefined) return;
  schema.properties = Object.fromEntries(
    keys.map((key) => [key, schema.additionalProperties as Schema]),
  );
  delete schema.propertyNames;
  delete schema.additionalProperties;
}

function withComponentRefs(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'),
  );
}
