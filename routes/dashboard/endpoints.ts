/**
 * /: the dashboard. Its other pages and its files are not part of the API and not documented as such;
 * `routes/app.ts` answers them where no endpoint does.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { respondDashboard } from "./dashboard.ts";
import { rawEndpoint } from "../contract/endpoint.ts";

export const dashboardEndpoints = (deps: Deps) => [
  rawEndpoint("GET /", {
    operationId: "getDashboard",
    summary: "Get the dashboard",
    description: "The page that operators use in a browser. `UI=off` turns it off.",
    role: "public",
    ignoresUnknown: true,
    produces: "text/html",
    returns: z.string(),
    replies: {
      302: {
        description: "With `UI=off`, redirect to the API documentation",
        headers: { Location: "Always `/docs`" },
      },
    },
  }, async ({ request }) =>
    await respondDashboard(deps, request) ??
      new Response(null, { status: 302, headers: { location: "/docs" } })),
];
