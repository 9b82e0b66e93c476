/** /api/swarm/secrets and /api/swarm/configs. @module */

import * as z from "zod";
import { decodeValue } from "../../services/swarm/encoding.ts";
import { rotateValue } from "../../services/swarm/rotation.ts";
import {
  createValue,
  listValues,
  OWN_LABELS,
  removeValue,
  type ValueKind,
} from "../../services/swarm/values.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { doneWith, EnginePairs, Timestamp } from "../contract/shapes.ts";
import { RefParams, SWARM_FAILURES } from "./shapes.ts";

const ValueName = z.string().max(64).regex(/^[a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?$/, {
  error: "must have letters, digits, dots, underscores and hyphens, and begin and end with a " +
    "letter or digit",
});

/** Longest value as Base64, in characters; the service checks the bytes. */
const TEXT_MAX = 1_400_000;

/** Largest body with a value and the escapes of JSON, in bytes. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

const value = {
  value: z.string().min(1).max(TEXT_MAX).meta({
    description: "Up to 500 KiB for a secret and 1000 KiB for a config; never returned",
  }),
  encoding: z.enum(["utf8", "base64"]).default("utf8").meta({
    description: "base64 for values that are not text",
  }),
};

const View = z.object({
  id: z.string(),
  name: z.string().meta({ example: "db_password" }),
  stack: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  services: z.array(z.string()).meta({ description: "Names of the services that use it" }),
  createdAt: Timestamp.nullable(),
  updatedAt: Timestamp.nullable(),
}).meta({ id: "SwarmValue" });

const Labels = EnginePairs.refine((labels) => !OWN_LABELS.some((name) => name in labels), {
  error: `must not have ${OWN_LABELS.join(" or ")}, which mark what Longshore has created itself`,
});

const NewValue = z.object({ name: ValueName, ...value, labels: Labels.default({}) }).meta({
  id: "NewSwarmValue",
  example: { name: "db_password", value: "correct horse battery staple" },
});

const Rotation = z.object(value).meta({ id: "SwarmRotation", example: { value: "new value" } });

const READ = { role: "admin", permission: "swarm_secrets:read" } as const;
const WRITE = { role: "admin", permission: "swarm_secrets:write" } as const;

/** The endpoints of one kind of values. */
function endpointsOf(deps: Deps, kind: ValueKind) {
  const title = kind === "secret" ? "Secret" as const : "Config" as const;
  const path = `/api/swarm/${kind}s` as const;
  const unknown = { 404: `The ${kind} does not exist`, ...SWARM_FAILURES };
  return [
    endpoint(`GET ${path}`, {
      ...READ,
      operationId: `listSwarm${title}s`,
      summary: `List ${kind}s`,
      description: "Sorted by name, without their values.",
      returns: z.object({ [`${kind}s`]: z.array(View) }).meta({ id: `Swarm${title}List` }),
      failures: SWARM_FAILURES,
    }, async () => ({ [`${kind}s`]: await listValues(deps, kind) })),

    endpoint(
      `POST ${path}`,
      {
        ...WRITE,
        operationId: `createSwarm${title}`,
        summary: `Create a ${kind}`,
        bodyBytesMax: BODY_BYTES_MAX,
        body: NewValue,
        returns: View,
        status: 201,
        failures: { ...SWARM_FAILURES, 409: "The name is in use, or the engine manages no swarm" },
      },
      ({ body: { name, labels, ...given } }) =>
        createValue(deps, kind, { name, labels, value: decodeValue(given) }),
    ),

    endpoint(`DELETE ${path}/:id`, {
      ...WRITE,
      operationId: `deleteSwarm${title}`,
      summary: `Delete a ${kind}`,
      params: RefParams,
      returns: doneWith({ id: z.string(), name: z.string() }).meta({ id: `Swarm${title}Deletion` }),
      failures: { ...unknown, 409: "A service uses it, or the engine manages no swarm" },
    }, async ({ params, note }) => {
      const removed = await removeValue(deps, kind, params.id);
      note.targets = [removed.name, removed.id];
      return removed;
    }),

    endpoint(`POST ${path}/:id/rotate`, {
      ...WRITE,
      operationId: `rotateSwarm${title}`,
      summary: `Rotate a ${kind}`,
      description: "Creates one with the new value, whose name ends with a hash, and moves the " +
        "services to it one after another, in a job. The old one is removed if no service uses it " +
        "any more. If new tasks of the first service fail, Swarm rolls back, and the new one is " +
        "removed.",
      destructive: true,
      bodyBytesMax: BODY_BYTES_MAX,
      params: RefParams,
      body: Rotation,
      returns: Job,
      status: 202,
      failures: {
        ...unknown,
        409:
          "It has this value already, it belongs to a stack or another store, Longshore itself " +
          "uses it, another job changes a service that uses it, or the engine manages no swarm",
      },
    }, ({ params, body, caller }) => rotateValue(deps, caller, kind, params.id, decodeValue(body))),
  ];
}

export const valueEndpoints = (deps: Deps) => [
  ...endpointsOf(deps, "secret"),
  ...endpointsOf(deps, "config"),
];
