/** Requests for a path that does not exist, or for a method that the path does not have. @module */

import type { Context } from "hono";
import type { EditionRoutes } from "../editions.ts";
import { type AppEnv, respondJson } from "./exchange.ts";

/** Answers 405 with the methods of the path, or 404 if there are none. */
export function unknownPath({ prefix, endpoints }: EditionRoutes) {
  const served = endpoints.map(({ method, path }) => ({
    method: method.toUpperCase(),
    pattern: patternOf(prefix + path),
  }));
  return (c: Context<AppEnv>): Response => {
    const path = c.req.path;
    const methods = new Set(
      served.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method),
    );
    if (methods.size === 0) return respondJson(c.env, 404, { error: `No such path: ${path}` });
    if (methods.has("GET")) methods.add("HEAD");
    const allow = [...methods].sort().join(", ");
    const error = `${c.req.method} is not allowed; allowed methods: ${allow}`;
    return respondJson(c.env, 405, { error }, { allow });
  };
}

/** Of a path without its last slash, which the router leaves out once. */
const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/:\w+/g, "[^/]+").replace(/(?<=.)\/$/, "")}$`);
