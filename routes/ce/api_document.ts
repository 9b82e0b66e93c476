/**
 * /openapi.json and /docs: the API document, and a page to read and try it.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { apiPage } from "../api_page/page.ts";
import { rawEndpoint } from "../endpoint.ts";
import { JSON_HEADERS } from "../response_cache.ts";
import {
  createRepresentation,
  type Representation,
  sendRepresentation,
} from "../representation.ts";

/** @param openApi The document as JSON; created on the first request. */
export function apiDocumentEndpoints(_deps: Deps, openApi: () => Promise<string>) {
  let document: Promise<Representation> | undefined;
  const createDocument = async () =>
    createRepresentation(await openApi(), { ...JSON_HEADERS, "cache-control": "no-cache" }, 9);

  return [
    rawEndpoint(
      {
        method: "get",
        path: "/openapi.json",
        operationId: "getOpenApiDocument",
        summary: "Get the OpenAPI document",
        role: "public",
        produces: "application/json",
        returns: z.looseObject({ openapi: z.literal("3.1.0") }).meta({ id: "OpenApiDocument" }),
        etag: true,
      },
      async ({ request }) => {
        document ??= createDocument();
        return sendRepresentation(await document, request);
      },
    ),

    rawEndpoint({
      method: "get",
      path: "/docs",
      operationId: "getDocs",
      summary: "Get the API documentation page",
      role: "public",
      ignoresUnknown: true,
      produces: "text/html",
      returns: z.string(),
      etag: true,
    }, ({ request }) => apiPage("/docs", request)),

    rawEndpoint({
      method: "get",
      path: "/docs/page.css",
      operationId: "getDocsStyle",
      summary: "Get the documentation page's style",
      role: "public",
      ignoresUnknown: true,
      produces: "text/css",
      returns: z.string(),
      etag: true,
    }, ({ request }) => apiPage("/docs/page.css", request)),

    rawEndpoint({
      method: "get",
      path: "/docs/page.js",
      operationId: "getDocsScript",
      summary: "Get the documentation page's script",
      role: "public",
      ignoresUnknown: true,
      produces: "text/javascript",
      returns: z.string(),
      etag: true,
    }, ({ request }) => apiPage("/docs/page.js", request)),
  ];
}
