/**
 * / and /docs: the dashboard and its page for the API. Its other pages and its files are not part of
 * the API and not documented as such; `routes/app.ts` answers them where no endpoint does.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { AppError } from "../../services/errors.ts";
import { respondDashboard } from "./dashboard.ts";
import { rawEndpoint } from "../contract/endpoint.ts";

/** Common parts of both pages. */
const PAGE = {
  role: "public",
  ignoresUnknown: true,
  produces: "text/html",
  returns: z.string(),
} as const;

export const dashboardEndpoints = (deps: Deps) => [
  rawEndpoint("GET /", {
    ...PAGE,
    operationId: "getDashboard",
    summary: "Get the dashboard",
    description: "The page that operators use in a browser. `UI=off` turns it off.",
    replies: {
      302: {
        description: "With `UI=off`, redirect to the API documentation",
        headers: { Location: "Always `/docs`" },
      },
    },
  }, async ({ request }) =>
    await respondDashboard(deps, request) ??
      new Response(null, { status: 302, headers: { location: "/docs" } })),

  rawEndpoint("GET /docs", {
    ...PAGE,
    operationId: "getDocs",
    summary: "Get the API documentation page",
    description: "A page of the dashboard. It needs no session, and `UI=off` leaves it on.",
    failures: { 404: "The sources run without a built dashboard" },
  }, async ({ request }) => {
    const page = await respondDashboard(deps, request);
    if (!page) throw new AppError("not_found", "The dashboard is not built; run deno task ui");
    return page;
  }),
];
