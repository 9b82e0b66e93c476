/** /api/stacks/:name/git: stacks that follow a Git repository. @module */

import * as z from "zod";
import { attachStack, detachStack, discardDrift, findStackGit } from "../../services/git/attach.ts";
import { GIT_DEPLOYS } from "../../services/git/settings.ts";
import { STACK_STATES } from "../../services/git/state.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, ENGINE_FAILURES, Timestamp } from "../contract/shapes.ts";
import { Commit, Directory, ProjectParams } from "../stacks/shapes.ts";
import { RepositoryPath, Variables } from "./shapes.ts";

const Following = z.object({
  repositoryId: z.string().min(1).max(100),
  path: RepositoryPath.meta({
    description: "Compose file in the repository",
    example: "shop/compose.yaml",
  }),
  deploy: z.enum(GIT_DEPLOYS).default("manual"),
  directory: Directory.nullable().default(null).meta({
    description: "On the host, for relative paths of mounts; null keeps that of the stack",
  }),
  profiles: z.array(z.string().min(1).max(100)).max(100).nullable().default(null),
  env: Variables.optional().meta({
    description: "Variables that win over the `.env` of the repository; by default those that " +
      "the stack has",
  }),
  acceptRecreate: z.boolean().default(false).meta({
    description: "Whether the stack is attached although a deploy would recreate containers",
  }),
}).meta({
  id: "StackGitSource",
  example: { repositoryId: "5f0c", path: "shop/compose.yaml" },
});

const StackGit = z.object({
  repository: z.object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    error: z.string().nullable(),
    checkedAt: Timestamp.nullable(),
  }),
  path: z.string(),
  deploy: z.enum(GIT_DEPLOYS),
  directory: z.string().nullable(),
  profiles: z.array(z.string()).nullable(),
  isMapped: z.boolean().meta({ description: "Whether the mapping of the repository made it" }),
  state: z.enum(STACK_STATES).meta({
    description: "waiting: no version yet; refused: the newest commit has errors; orphaned: the " +
      "repository does not have the file any more; drift: the sources were edited here; rewritten: " +
      "the deployed commit is not in the history any more; failed: the deploy of the newest version " +
      "failed; behind: it is not deployed; current: it is",
  }),
  version: z.int().nullable().meta({ description: "The newest one that was made of a commit" }),
  commit: Commit.nullable(),
  deployedVersion: z.int().nullable(),
  deployedCommit: z.string().nullable(),
  behind: z.int().nullable().meta({
    description: "Commits since the deployed one; more than 1000 mean that there are more",
  }),
  problem: z.string().nullable().meta({ description: "Why the newest commit is not a version" }),
  drift: z.object({ from: z.int(), to: z.int() }).nullable().meta({
    description: "Versions of the commit and of an edit, which can be compared",
  }),
}).meta({ id: "StackGit" });

const UNKNOWN = { 404: "The stack follows no repository" };
const WRITE = { role: "admin", permission: "stacks:write" } as const;

export const stackGitEndpoints = (deps: Deps) => [
  endpoint("GET /api/stacks/:name/git", {
    operationId: "getStackGit",
    summary: "Get the Git source",
    role: "operator",
    permission: "stack_sources:read",
    params: ProjectParams,
    returns: z.object({
      git: StackGit.nullable().meta({ description: "Null for a stack that follows no repository" }),
    }).meta({ id: "StackGitState" }),
  }, ({ params }) => ({ git: findStackGit(deps, params.name) })),

  endpoint(
    "PUT /api/stacks/:name/git",
    {
      operationId: "attachStackToGit",
      summary: "Attach a stack to Git",
      description: "A new stack, one with sources, or one that another program has deployed. The " +
        "files of the last commit become its next version; nothing is deployed at once.",
      ...WRITE,
      params: ProjectParams,
      body: Following,
      returns: StackGit,
      failures: {
        404: "The repository or the file does not exist",
        409: "A deploy would recreate containers (with the changes), the stack follows another " +
          "repository, or no commit is accepted yet",
        ...ENGINE_FAILURES,
      },
    },
    ({ params, body: { env, ...body }, caller }) =>
      attachStack(deps, caller, params.name, { ...body, env }),
  ),

  endpoint("DELETE /api/stacks/:name/git", {
    operationId: "detachStackFromGit",
    summary: "Detach a stack from Git",
    description: "Its sources and containers stay.",
    ...WRITE,
    params: ProjectParams,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => detachStack(deps, params.name)),

  endpoint("POST /api/stacks/:name/git/discard", {
    operationId: "discardStackEdits",
    summary: "Discard edits of a stack",
    description: "The last commit becomes the current version again. Nothing is deployed at once.",
    ...WRITE,
    destructive: true,
    params: ProjectParams,
    returns: StackGit,
    failures: { ...UNKNOWN, 409: "The stack has no edit" },
  }, ({ params, caller }) => discardDrift(deps, caller, params.name)),
];
