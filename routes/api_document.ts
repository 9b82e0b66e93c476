/** /openapi.json: the API document. @module */

import * as z from "zod";
import type { Deps } from "../services/deps.ts";
import { rawEndpoint } from "./contract/endpoint.ts";
import { JSON_HEADERS } from "./pipeline/response_cache.ts";
import {
  createRepresentation,
  type Representation,
  sendRepresentation,
} from "./pipeline/representation.ts";

/** @param openApi The document as JSON; created on the first request. */
export function apiDocumentEndpoints(_deps: Deps, openApi: () => Promise<string>) {
  let document: Promise<Representation> | undefined;
  const createDocument = async () =>
    createRepresentation(await openApi(), { ...JSON_HEADERS, "cache-control": "no-cache" }, 9);

  return [
    rawEndpoint("GET /openapi.json", {
      operationId: "getOpenApiDocument",
      summary: "Get the OpenAPI document",
      role: "public",
      produces: "application/json",
      returns: z.looseObject({ openapi: z.literal("3.1.0") }).meta({ id: "OpenApiDocument" }),
      etag: true,
    }, async ({ request }) => {
      document ??= createDocument();
      return sendRepresentation(await document, request);
    }),
  ];
}
