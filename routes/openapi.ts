/**
 * The OpenAPI 3.1 document of the service.
 *
 * @module
 */

import * as z from "zod";
import type { Edition } from "../services/edition.ts";
import type { EditionRoutes } from "./editions.ts";
import type { Endpoint } from "./endpoint.ts";
import { EditionLimitBody, ErrorBody } from "./shapes.ts";

const DESCRIPTION = `Manages and watches the container engine of one host.

Every call needs \`Authorization: Bearer <accessToken>\`, except where an operation says otherwise.
Get a token pair from \`POST /auth/token\` (key mode) or \`POST /auth/login\` (users mode).
Every failure is \`{"error": "sentence"}\`.`;

const FAILURES: Record<number, string> = {
  400: "A field is not valid; the error names it",
  401: "The token is missing or not valid",
  402: "The edition does not include this, or its limit is reached",
  403: "The role does not allow this",
};

/** Builds the document. Pure: the same endpoints give the same document. */
export function openApiDocument(editions: readonly EditionRoutes[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { edition, prefix, endpoints } of editions) {
    for (const endpoint of endpoints) {
      const path = (prefix + endpoint.path).replace(/:(\w+)/g, "{$1}");
      (paths[path] ??= {})[endpoint.method] = operation(endpoint, path, edition);
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Longshore",
      summary: "Container host management",
      description: DESCRIPTION,
      version,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        ticket: { type: "apiKey", in: "query", name: "ticket" },
      },
      schemas: {
        Error: schemaOf(ErrorBody, "output"),
        EditionLimit: schemaOf(EditionLimitBody, "output"),
      },
    },
    paths,
  };
}

function operation(endpoint: Endpoint, path: string, edition: Edition) {
  const { method, role, permission } = endpoint;
  return {
    operationId: `${method}${
      path.replace(/[^a-zA-Z0-9]+(\w)?/g, (_, next = "") => next.toUpperCase())
    }`,
    tags: [groupOf(path)],
    summary: endpoint.summary,
    ...(endpoint.description !== undefined && { description: endpoint.description }),
    security: role === "public"
      ? []
      : [{ bearer: [] }, ...(endpoint.acceptsTicket ? [{ ticket: [] }] : [])],
    "x-edition": edition,
    "x-role": role,
    ...(permission !== undefined && { "x-permission": permission }),
    parameters: [
      ...parameters("path", endpoint.params),
      ...parameters("query", endpoint.query),
      ...headerParameters(endpoint),
    ],
    ...requestBody(endpoint),
    responses: {
      [endpoint.status ?? 200]: {
        description: "Success",
        content: {
          [endpoint.produces ?? "application/json"]: {
            schema: schemaOf(endpoint.returns, "output"),
          },
        },
      },
      ...(endpoint.etag && { 304: { description: "The answer with this ETag still holds" } }),
      ...failures(endpoint, edition),
    },
  };
}

function requestBody({ body, form }: Endpoint) {
  const shape = form ?? body;
  if (!shape) return {};
  const type = form ? "application/x-www-form-urlencoded" : "application/json";
  return {
    requestBody: {
      required: !shape.safeParse({}).success,
      content: { [type]: { schema: schemaOf(shape, "input") } },
    },
  };
}

/** `/api/ext/service-pro/sla/...` is "sla", `/api/containers/...` is "containers". */
function groupOf(path: string): string {
  const parts = path.split("/").filter((part) => part && !part.startsWith("{"));
  if (parts[0] === "auth") return "auth";
  if (parts[0] !== "api") return "service";
  return parts[parts[1] === "ext" ? 3 : 1] ?? "service";
}

function headerParameters({ headers = {} }: Endpoint) {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  }));
}

function failures(endpoint: Endpoint, edition: Edition) {
  const takesInput = endpoint.params ?? endpoint.query ?? endpoint.body ?? endpoint.form;
  const statuses = [
    ...(takesInput ? [400] : []),
    ...(endpoint.role === "public" ? [] : [401]),
    ...(edition === "ce" || endpoint.hiddenUnlicensed ? [] : [402]),
    ...(endpoint.role === "public" || endpoint.role === "viewer" ? [] : [403]),
  ];
  const all: Record<number, string> = {
    ...Object.fromEntries(statuses.map((status) => [status, FAILURES[status]!])),
    ...endpoint.failures,
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, description]) => [status, {
      description,
      content: {
        "application/json": {
          schema: {
            $ref: `#/components/schemas/${status === "402" ? "EditionLimit" : "Error"}`,
          },
        },
      },
    }]),
  );
}

function parameters(where: "path" | "query", shape: z.ZodType | undefined) {
  if (!shape) return [];
  // Query values are text that the shape turns into numbers; the document shows the numbers.
  const { properties = {} } = schemaOf(shape, "output");
  const fields = (shape as z.ZodObject).shape;
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: where,
    required: where === "path" || !z.safeParse(fields[name]!, undefined).success,
    schema,
  }));
}

function schemaOf(shape: z.ZodType, io: "input" | "output"): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: "any" });
  return schema;
}
