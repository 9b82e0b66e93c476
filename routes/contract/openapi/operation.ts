/** One endpoint as an operation of the API document. @module */

import * as z from "zod";
import type { Edition } from "../../../services/edition.ts";
import type { Endpoint, Reply } from "../endpoint.ts";
import type { Components, Parameter } from "./components.ts";
import { failuresOf, responseHeaders } from "./responses.ts";
import { tagOf } from "./tags.ts";

const JSON_TYPE = "application/json";

/** @param path With its parameters as `{name}`. */
export function operationOf(
  endpoint: Endpoint,
  path: string,
  edition: Edition,
  components: Components,
) {
  const { role, permission, description } = endpoint;
  return {
    operationId: endpoint.operationId,
    tags: [tagOf(path, edition)],
    summary: endpoint.summary,
    ...(description !== undefined && { description }),
    security: securityOf(endpoint),
    "x-edition": edition,
    "x-role": role,
    ...(permission !== undefined && { "x-permission": permission }),
    ...(endpoint.scope !== undefined && { "x-token-scope": endpoint.scope }),
    ...((endpoint.destructive || endpoint.method === "delete") && { "x-destructive": true }),
    parameters: [
      ...parametersOf("path", endpoint.params, [], components),
      ...parametersOf("query", endpoint.query, endpoint.repeatable ?? [], components),
      ...headerParametersOf(endpoint, components),
    ],
    ...requestBodyOf(endpoint, components),
    responses: {
      ...successOf(endpoint, components),
      ...(endpoint.etag && { 304: { $ref: "#/components/responses/NotModified" } }),
      ...failuresOf(endpoint, path, edition),
      ...repliesOf(endpoint, components),
      ...(endpoint.forwards && { default: answerOfHost(endpoint, components) }),
    },
  };
}

/** Any other status of an endpoint that passes requests on. */
const answerOfHost = ({ returns }: Endpoint, { schemaOf }: Components) => ({
  description: "The answer of the host",
  content: { [JSON_TYPE]: { schema: schemaOf(returns, "output") } },
});

function securityOf({ role, acceptsTicket, acceptsCookie, proof }: Endpoint) {
  if (proof) return [{ verifySecret: [] }];
  if (acceptsCookie) return [{ sessionCookie: [] }];
  if (role === "public") return [];
  if (acceptsTicket === "terminal") return [{ ticket: [] }];
  return [{ bearer: [] }, ...(acceptsTicket ? [{ ticket: [] }] : [])];
}

function parametersOf(
  where: "path" | "query",
  shape: z.ZodType | undefined,
  repeatable: readonly string[],
  { schemaOf, parameterOf }: Components,
) {
  if (!shape) return [];
  // Query values are text that the shape turns into numbers; the document shows the numbers.
  const { properties = {} } = schemaOf(shape, "output");
  const fields = (shape as z.ZodObject).shape;
  return Object.entries(properties as Record<string, Parameter["schema"]>).map(([name, field]) => {
    const { description, example, ...schema } = field as Parameter["schema"] & {
      description?: string;
    };
    return parameterOf({
      name,
      in: where,
      required: where === "path" || !z.safeParse(fields[name]!, undefined).success,
      ...(description !== undefined && { description }),
      ...(example !== undefined && { example }),
      // One value with commas, or the parameter several times.
      ...(schema.type === "array" && { style: "form", explode: repeatable.includes(name) }),
      schema,
    });
  });
}

function headerParametersOf({ headers = {}, etag }: Endpoint, { parameterOf }: Components) {
  const header = (name: string, description: string, shared?: string) =>
    parameterOf({
      name,
      in: "header",
      required: false,
      description,
      schema: { type: "string", ...(shared !== undefined && { parameter: shared }) },
    });
  return [
    ...Object.entries(headers).map(([name, description]) => header(name, description)),
    ...(etag ? [header("If-None-Match", "`ETag` of the client's copy", "IfNoneMatch")] : []),
  ];
}

function requestBodyOf({ body, form, upload }: Endpoint, { schemaOf }: Components) {
  if (upload) {
    const schema = { type: "string", format: "binary" };
    const content = Object.fromEntries(upload.types.map((type) => [type, { schema }]));
    return { requestBody: { required: true, content } };
  }
  const shape = form ?? body;
  if (!shape) return {};
  const type = form ? "application/x-www-form-urlencoded" : JSON_TYPE;
  return {
    requestBody: {
      required: !shape.safeParse({}).success,
      content: { [type]: { schema: schemaOf(shape, "input") } },
    },
  };
}

function successOf(endpoint: Endpoint, components: Components) {
  const { status = 200, produces = JSON_TYPE, returns, alternatives = {} } = endpoint;
  // A redirect is described by `replies` alone.
  if (endpoint.replies?.[status]) return {};
  return {
    [status]: {
      description: "Success",
      headers: {
        ...responseHeaders(endpoint.etag && { ETag: "ETag" }),
        ...namedHeaders(endpoint.replyHeaders),
      },
      content: contentOf({ [produces]: returns, ...alternatives }, components),
    },
  };
}

function repliesOf({ replies = {} }: Endpoint, components: Components) {
  return Object.fromEntries(
    Object.entries(replies).map(([status, reply]) => [status, replyOf(reply, components)]),
  );
}

function replyOf(
  { description, returns, alternatives = {}, headers }: Reply,
  components: Components,
) {
  return {
    description,
    headers: { ...responseHeaders(), ...namedHeaders(headers) },
    ...(returns && { content: contentOf({ [JSON_TYPE]: returns, ...alternatives }, components) }),
  };
}

const contentOf = (shapes: Record<string, z.ZodType>, { schemaOf }: Components) =>
  Object.fromEntries(
    Object.entries(shapes).map(([type, shape]) => [type, { schema: schemaOf(shape, "output") }]),
  );

const namedHeaders = (headers: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: "string" } },
    ]),
  );
