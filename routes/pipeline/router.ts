/** The router of a group of endpoints. @module */

import { Hono } from "hono";
import type { EditionRoutes } from "../editions.ts";
import type { AppEnv, Exchange } from "./exchange.ts";
import { mount } from "./mount.ts";
import type { EndpointDeps } from "./request_context.ts";
import { unknownPath } from "./unknown_path.ts";

export type Router = Hono<AppEnv>;

/** @param respondFailure Answers a request whose handling failed. */
export function createRouter(
  routes: EditionRoutes,
  deps: EndpointDeps,
  respondFailure: (error: unknown, exchange: Exchange, request: Request) => Response,
): Router {
  const hono = new Hono<AppEnv>({ strict: false });
  mount(hono, routes, deps);
  hono.notFound(unknownPath(routes));
  hono.onError((error, c) => respondFailure(error, c.env, c.req.raw));
  return hono;
}
