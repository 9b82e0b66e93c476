/** /api/stacks: sources of stacks and their versions. @module */

import * as z from "zod";
import {
  recordStackSource,
  removeStackSource,
  replaceStackSource,
  STACK_SOURCES_MAX,
} from "../../services/compose/sources.ts";
import {
  diffStackVersions,
  getStackVersion,
  listStackVersions,
  VERSIONS_KEPT,
} from "../../services/compose/versions.ts";
import { createStack } from "../../services/compose/deploy/start.ts";
import { STACK_KINDS } from "../../services/stacks/groups.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, ENGINE_FAILURES, Timestamp } from "../contract/shapes.ts";
import { Job } from "../contract/job.ts";
import {
  Commit,
  Directory,
  ProjectParams,
  ShownSources,
  SOURCES_BODY_BYTES_MAX,
  StackName,
  StackSources,
} from "./shapes.ts";

const Version = z.coerce.number().int().min(1).max(1_000_000_000);

const NewStack = z.object({
  name: StackName,
  kind: z.enum(STACK_KINDS).default("compose"),
  ...StackSources.shape,
  compose: StackSources.shape.compose.optional().meta({
    description: "The Compose text, up to 1 MiB; without it, the files of `directory` are used",
    example: "services:\n  web:\n    image: nginx\n",
  }),
  directory: Directory.optional().meta({
    description:
      "Directory on the host, below one of `STACK_ROOTS`, e.g. `/opt/stacks/shop`. The " +
      "stack is then on disk: its sources are written there, and relative paths are relative to it",
  }),
  deploy: z.boolean().default(true).meta({
    description: "Whether it is deployed at once; Swarm stacks are stored only",
  }),
}).meta({
  id: "NewStack",
  example: { name: "shop", compose: "services:\n  web:\n    image: nginx\n" },
});

const StackChange = z.object({
  ...StackSources.shape,
  expectedVersion: z.int().min(1).meta({ description: "The version that the change is based on" }),
}).meta({ id: "StackSourceChange" });

const UserId = z.string().meta({
  description: "Id of the user; `disk` for an edit of the files on disk, `git` for a commit",
  example: "key",
});

const Summary = z.object({
  name: z.string(),
  kind: z.enum(STACK_KINDS),
  version: z.int(),
  updatedBy: UserId,
  updatedAt: Timestamp,
}).meta({ id: "StackSourceVersion" });

const Source = Summary.extend(ShownSources.shape).meta({ id: "StackSource" });

const UNKNOWN = { 404: "The stack has no stored sources" };
const UNKNOWN_VERSION = { 404: "The version does not exist" };

const READ = { role: "operator", permission: "stack_sources:read" } as const;
const READ_SOURCES = { ...READ, audited: true } as const;
const WRITE = { role: "admin", permission: "stacks:write" } as const;

export const stackSourceEndpoints = (deps: Deps) => [
  endpoint("POST /api/stacks", {
    operationId: "createStack",
    summary: "Create a stack",
    description: "Stores its sources and starts a job that deploys them, as " +
      "`POST /api/stacks/{name}/deploy` does. A failed deploy leaves the sources. " +
      "They are stored encrypted, and with `directory` also as files on the host. Sources with " +
      "errors are refused, and so are relative paths of mounts without a directory. An existing " +
      "file with another text is not overwritten. " +
      `Limit: ${STACK_SOURCES_MAX} stacks.`,
    ...WRITE,
    body: NewStack,
    bodyBytesMax: SOURCES_BODY_BYTES_MAX,
    returns: Summary.extend({
      job: Job.nullable().meta({ description: "The deploy" }),
    }).meta({ id: "CreatedStack" }),
    status: 201,
    failures: {
      409:
        "The stack already has sources, a file has another text, the directory cannot be used, " +
        "or the limit is reached",
      ...ENGINE_FAILURES,
    },
  }, ({ body, caller, note }) => {
    note.targets = [body.name];
    return createStack(deps, caller, body);
  }),

  endpoint("GET /api/stacks/:name/source", {
    operationId: "getStackSource",
    summary: "Get the sources of a stack",
    description: "Those of a stack on disk are read there; an edit becomes the current version.",
    ...READ_SOURCES,
    params: ProjectParams,
    returns: Source,
    failures: { 409: "The files on disk cannot be read", ...UNKNOWN, ...ENGINE_FAILURES },
    etag: true,
  }, ({ params, caller }) => recordStackSource(deps, caller, params.name)),

  endpoint("PUT /api/stacks/:name/source", {
    operationId: "replaceStackSource",
    summary: "Replace the sources of a stack",
    description:
      `Stores the next version; the last ${VERSIONS_KEPT} are kept. Nothing is deployed. Of a ` +
      "stack on disk the files are written, with their owners and modes; those that are not given " +
      "stay as they are.",
    ...WRITE,
    params: ProjectParams,
    body: StackChange,
    bodyBytesMax: SOURCES_BODY_BYTES_MAX,
    returns: Summary,
    failures: {
      409: "Another version is the current one, also because of an edit on disk; with a diff",
      ...UNKNOWN,
      ...ENGINE_FAILURES,
    },
  }, ({ params, body, caller }) => replaceStackSource(deps, caller, params.name, body)),

  endpoint("GET /api/stacks/:name/versions", {
    operationId: "listStackVersions",
    summary: "List versions of a stack",
    description: "Newest first.",
    ...READ,
    params: ProjectParams,
    returns: z.object({
      versions: z.array(z.object({
        version: z.int(),
        createdBy: UserId,
        createdAt: Timestamp,
        commit: Commit.nullable().meta({ description: "That it was made of" }),
      })),
    }).meta({ id: "StackVersionList" }),
    failures: UNKNOWN,
  }, ({ params }) => ({ versions: listStackVersions(deps, params.name) })),

  endpoint("GET /api/stacks/:name/versions/:version", {
    operationId: "getStackVersion",
    summary: "Get a version of a stack",
    ...READ_SOURCES,
    params: ProjectParams.extend({ version: Version }),
    returns: Source,
    failures: UNKNOWN_VERSION,
  }, ({ params, caller }) => getStackVersion(deps, caller, params.name, params.version)),

  endpoint("GET /api/stacks/:name/versions/:version/diff/:other", {
    operationId: "diffStackVersions",
    summary: "Compare two versions",
    ...READ_SOURCES,
    params: ProjectParams.extend({ version: Version, other: Version }),
    returns: z.object({
      diff: z.string().meta({
        description: "Unified diff of the Compose text, the variables and the files; empty if " +
          "they are equal. Redacted values count as equal",
      }),
    }).meta({ id: "StackDiff" }),
    failures: UNKNOWN_VERSION,
  }, ({ params: { name, version, other }, caller }) => ({
    diff: diffStackVersions(deps, caller, name, version, other),
  })),

  endpoint("DELETE /api/stacks/:name", {
    operationId: "deleteStack",
    summary: "Delete the sources of a stack",
    description: "With all versions. The files of a stack on disk stay.",
    ...WRITE,
    params: ProjectParams,
    returns: Done,
    failures: { 409: "The stack has containers", ...UNKNOWN },
  }, ({ params }) => removeStackSource(deps, params.name)),
];
