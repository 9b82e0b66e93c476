/**
 * /openapi.json and /docs: the API document, and a page to read and try it.
 *
 * @module
 */

import * as z from "zod";
import { API_PAGE_PATHS, apiPage } from "../api_page.ts";
import { rawEndpoint } from "../endpoint.ts";

/** @param openApi The document as JSON; made when it is first asked for. */
export const apiDocumentEndpoints = (openApi: () => Promise<string>) => [
  rawEndpoint(
    {
      method: "get",
      path: "/",
      summary: "Lead a browser to the API page",
      role: "public",
      produces: "text/html",
      returns: z.string(),
    },
    () => new Response(null, { status: 302, headers: { location: "/docs" } }),
  ),

  rawEndpoint(
    {
      method: "get",
      path: "/openapi.json",
      summary: "Read the API document",
      role: "public",
      produces: "application/json",
      returns: z.string(),
    },
    async () => new Response(await openApi(), { headers: { "content-type": "application/json" } }),
  ),

  ...API_PAGE_PATHS.map((path) =>
    rawEndpoint({
      method: "get",
      path,
      summary: path === "/docs" ? "Show the API page" : `Part of the API page`,
      role: "public",
      produces: path.endsWith(".css")
        ? "text/css"
        : path.endsWith(".js")
        ? "text/javascript"
        : "text/html",
      returns: z.string(),
    }, ({ request }) => apiPage(path, request))
  ),
];
