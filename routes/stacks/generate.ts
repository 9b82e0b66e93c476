/** /api/stacks/generate and /convert: Compose files from containers and from commands. @module */

import * as z from "zod";
import { visibleTo } from "../../services/containers/visible.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES } from "../contract/shapes.ts";

/** Containers that one file can describe. */
const GENERATED_MAX = 50;

/** Longest command, in characters. */
const COMMAND_MAX = 16_384;

export const stackGenerateEndpoints = (deps: Deps) => [
  endpoint("POST /api/stacks/generate", {
    operationId: "generateStack",
    scope: "filtered",
    summary: "Generate a Compose file",
    description: "Describes containers as services, without what their images already say. " +
      "Volumes and networks of other projects are external. Values of environment variables, " +
      "and of options of log and volume drivers, are there for admins only; for others the file " +
      "has variables. Changes nothing.",
    role: "operator",
    permission: "stack_sources:read",
    audited: true,
    body: z.object({
      containers: z.array(z.string().min(1).max(255)).min(1).max(GENERATED_MAX).meta({
        description: "Ids, unambiguous prefixes of ids, or names; several containers of one " +
          "service become its scale",
        example: ["web"],
      }),
    }).meta({ id: "StackGeneration" }),
    returns: z.object({
      name: z.string().nullable().meta({
        description: "The Compose project, if all containers have one in common",
      }),
      compose: z.string().meta({ example: "services:\n  web:\n    image: nginx:1.27\n" }),
      variables: z.array(z.string()).meta({
        description: "Variables that replace values which the caller may not see",
        example: ["DB_POSTGRES_PASSWORD"],
      }),
      warnings: z.array(z.string()).meta({ description: "What the file cannot say" }),
    }).meta({ id: "GeneratedStack" }),
    failures: {
      403: "The service's own container, and the caller is not an admin",
      404: "A container does not exist",
      409: "A container is managed by Swarm",
      ...ENGINE_FAILURES,
    },
  }, async ({ body, caller, note }) => {
    note.targets = body.containers;
    const { generateStack } = await import("../../services/compose/generate/generate.ts");
    return await generateStack(visibleTo(deps, caller), caller, body.containers);
  }),

  endpoint("POST /api/stacks/convert", {
    operationId: "convertCommand",
    scope: "open",
    summary: "Convert a docker run command",
    description: "Returns a Compose file for a `docker run` or `podman run` command, which may " +
      "have several lines. Volumes and networks keep the names of the command, and variables of " +
      "the shell become those of the file. Changes nothing.",
    role: "viewer",
    permission: "stacks:read",
    unaudited: true,
    body: z.object({
      command: z.string().min(1).max(COMMAND_MAX).meta({
        example: "docker run -d --name web -p 8080:80 -v data:/data nginx:1.27",
      }),
    }).meta({ id: "StackConversion" }),
    returns: z.object({
      compose: z.string(),
      warnings: z.array(z.string()).meta({ description: "Options that the file cannot say" }),
    }).meta({ id: "ConvertedCommand" }),
    failures: { 503: "Too many Compose files are being loaded" },
  }, async ({ body, caller }) => {
    const { convertCommand } = await import("../../services/compose/convert/convert.ts");
    return await convertCommand(deps, caller, body.command);
  }),
];
