/**
 * /api/stacks/validate and /api/compose: checks Compose files, and helps editors to write them.
 *
 * @module
 */

import * as z from "zod";
import { getComposeKeys, validateStack } from "../../services/compose/validate.ts";
import { findUnbuiltIfReachable } from "../../services/compose/builds.ts";
import { isLimited } from "../../services/access/scope.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { SOURCES_BODY_BYTES_MAX, StackName, StackSources } from "./shapes.ts";

const Issue = z.object({
  path: z.string().meta({
    description: "Empty for the whole file",
    example: "services.web.ports[0]",
  }),
  file: z.string().nullable().meta({
    description: "One of `files`, or null for the Compose text",
  }),
  line: z.int().meta({ description: "From 1" }),
  column: z.int().meta({ description: "From 1" }),
  message: z.string().meta({ example: "is unknown; did you mean volumes?" }),
}).meta({ id: "ComposeIssue" });

const ByPath = z.record(z.string(), z.array(z.string()));

export const stackValidationEndpoints = (deps: Deps) => [
  endpoint("POST /api/stacks/validate", {
    operationId: "validateStack",
    scope: "open",
    summary: "Validate a Compose file",
    description:
      "Checks the sources of a stack without storing or deploying them. The result has " +
      "at most 100 errors and 100 warnings. The service's own environment is not used. Nothing is " +
      "built: a service with `build` needs an image that the host has.",
    role: "viewer",
    permission: "stacks:read",
    unaudited: true,
    body: z.object({
      ...StackSources.shape,
      name: StackName.optional().meta({
        description: "Default: the name in the Compose text, or `stack`",
      }),
      directory: z.string().regex(/^\//, { error: "must be an absolute path" }).max(4096).optional()
        .meta({
          description: "Directory on the host for relative paths, which stay relative without it",
          example: "/opt/stacks/shop",
        }),
    }).meta({ id: "StackSourcesToValidate" }),
    bodyBytesMax: SOURCES_BODY_BYTES_MAX,
    returns: z.object({
      valid: z.boolean(),
      errors: z.array(Issue),
      warnings: z.array(Issue).meta({
        description: "Keys without effect, and variables that are not set",
      }),
      services: z.array(z.string()).meta({ description: "Names of the active services" }),
      resolved: z.record(z.string(), z.unknown()).nullable().meta({
        description: "The normalised model; null unless the sources are valid",
      }),
    }).meta({ id: "StackValidation" }),
    failures: { 413: "The body is too large", 503: "Too many Compose files are being loaded" },
  }, async ({ body: { name, directory, ...sources }, caller }) => {
    const { bindAllow } = deps.config;
    const validation = await validateStack(
      deps,
      caller,
      sources,
      { name, directory, bindAllow },
      // A limited token must not learn which images the host has.
      async (builds) => isLimited(caller.scope) ? [] : await findUnbuiltIfReachable(deps, builds),
    );
    return { ...validation, resolved: validation.resolved && { ...validation.resolved } };
  }),

  endpoint("GET /api/compose/keys", {
    operationId: "getComposeKeys",
    scope: "open",
    showsServer: true,
    summary: "List keys of Compose files",
    description: "For completion in editors: the keys that have an effect here, by path. In a " +
      "path, `*` is any name, and items of a list have the path of the list.",
    role: "viewer",
    permission: "stacks:read",
    returns: z.object({
      keys: ByPath.meta({ example: { "services.*": ["command", "image"] } }),
      values: ByPath.meta({
        description: "Of keys with a fixed choice",
        example: { "services.*.read_only": ["true", "false"] },
      }),
      roots: z.array(z.string()).meta({
        description: "Directories of the host, below which a stack can be on disk",
        example: ["/opt/stacks"],
      }),
    }).meta({ id: "ComposeKeys" }),
  }, async () => ({ ...await getComposeKeys(), roots: deps.config.stackRoots })),
];
