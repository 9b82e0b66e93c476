/** /api/git/repositories: Git repositories whose commits become versions of stacks. @module */

import * as z from "zod";
import {
  changeRepository,
  createRepository,
  getRepository,
  listRepositories,
  removeRepository,
} from "../../services/git/repositories.ts";
import {
  GIT_AUTHS,
  GIT_DEPLOYS,
  SIGNATURE_MODES,
  SIGNATURE_SCOPES,
} from "../../services/git/settings.ts";
import { SIGNERS_MAX } from "../../services/git/signers.ts";
import { labelsOfHost } from "../../services/git/labels.ts";
import { STACK_STATES } from "../../services/git/state.ts";
import { STATUS_KINDS } from "../../services/git/status/settings.ts";
import { syncRepository } from "../../services/git/sync.ts";
import { testRepository } from "../../services/git/test.ts";
import type { Deps } from "../../services/deps.ts";
import { CA_CERTIFICATE_MAX } from "../../services/outbound/certificates.ts";
import { OUTBOUND_URL_MAX } from "../../services/outbound/url.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Name, Timestamp } from "../contract/shapes.ts";
import { Labels } from "../fleet/shapes.ts";
import { Commit, Directory } from "../stacks/shapes.ts";
import { RepositoryPath, Variables } from "./shapes.ts";

const MAPPINGS_MAX = 100;

/** Identities have 74 to 80 characters. */
const AGE_IDENTITY_MAX = 200;

/** Git's rules for names (git-check-ref-format), as far as they matter in a request. */
const RefName = z.string().max(200).regex(
  /^(?![/.-])(?!.*(?:\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)))[^\s\p{Cc}~^:?*[\\]+(?<![/.])$/u,
  { error: "must be the name of a branch or tag" },
);

const Mapping = z.strictObject({
  path: RepositoryPath.meta({
    description: "Compose file; `*` stands for any one part of a name",
    example: "stacks/*/compose.yaml",
  }),
  name: z.string().regex(/^[a-z0-9*][a-z0-9_*-]{0,99}$/, {
    error: "must have lowercase letters, digits, dashes, underscores and * only",
  }).meta({ description: "Of the stack; `*` stands for the same text", example: "*" }),
  deploy: z.enum(GIT_DEPLOYS).default("manual").meta({
    description:
      "manual: a new version is shown; plan: its plan is reported as an event; auto: it " +
      "is deployed, in the windows of automatic updates if there are any",
  }),
  profiles: z.array(z.string().min(1).max(100)).max(100).nullable().default(null),
  directory: Directory.nullable().default(null).meta({
    description: "On the host, for relative paths of mounts; `*` stands for the same text",
    example: "/opt/stacks/*",
  }),
  hosts: Labels.default({}).meta({
    description: "Labels that a host must have, all of them, for the mapping to apply there",
    example: { site: "kiel" },
  }),
  env: Variables.default({}).meta({
    description:
      "Variables that win over the `.env` of the repository. Not for secrets: they are " +
      "returned",
    example: { DOMAIN: "kiel.example.com" },
  }),
});

const credential = z.string().min(1).max(1_000).regex(/^\P{Cc}*$/u, {
  error: "must not have control characters",
});

const fields = {
  name: Name,
  url: z.string().min(1).max(OUTBOUND_URL_MAX).meta({
    description: "`https://…`; `http://` only to private addresses",
    example: "https://git.example.com/ada/stacks.git",
  }),
  branch: RefName.nullable().meta({
    description: "Null with neither a tag nor a commit: the default branch",
  }),
  tag: RefName.nullable(),
  commit: z.string().regex(/^[0-9a-f]{40}$/, { error: "must have 40 hexadecimal digits" })
    .nullable(),
  auth: z.enum(GIT_AUTHS),
  username: z.string().regex(/^[^:\p{Cc}]{1,255}$/u, {
    error: "must have 1 to 255 characters without colons and control characters",
  }).nullable().meta({ description: "For `basic`" }),
  secret: credential.nullable().meta({
    description:
      "The token or the password. Stored encrypted and never returned; `********` in an " +
      "update keeps it",
  }),
  ageIdentity: z.string().min(1).max(AGE_IDENTITY_MAX).nullable().meta({
    description:
      "Opens files that SOPS has encrypted for age (`AGE-SECRET-KEY-1...`). Stored encrypted and " +
      "never returned; `********` in an update keeps it",
  }),
  status: z.strictObject({
    kind: z.enum(STATUS_KINDS).meta({ description: "gitea: also Forgejo" }),
    apiUrl: z.string().min(1).max(OUTBOUND_URL_MAX).meta({ example: "https://api.github.com" }),
    token: credential.meta({
      description: "May write the status of commits. Stored encrypted and never returned; " +
        "`********` in an update keeps it",
    }),
  }).nullable().meta({
    description: "Forge that gets the status of commits: pending, success or failure",
  }),
  caCertificate: z.string().min(1).max(CA_CERTIFICATE_MAX).nullable().meta({
    description: "Certificates (PEM) of the server's authority, trusted in addition to the " +
      "public ones",
  }),
  pollMinutes: z.int().min(0).max(1440).meta({
    description: "How often the server is asked for the newest commit; 0: only by the webhook",
  }),
  signatures: z.enum(SIGNATURE_MODES).meta({
    description: "required: only commits with an SSH signature of an allowed signer are accepted",
  }),
  signatureScope: z.enum(SIGNATURE_SCOPES).meta({
    description: "range: all commits since the last accepted one; head: the newest commit only",
  }),
  allowedSigners: z.string().max(SIGNERS_MAX).meta({
    description: "In the form of the file `allowed_signers` of `ssh-keygen`; Ed25519 keys",
    example: "ada@example.org ssh-ed25519 AAAA...",
  }),
  mapping: z.array(Mapping).max(MAPPINGS_MAX).meta({
    description: "Files that become stacks. Needs `stacks:write`",
  }),
};

const NewRepository = z.object({
  name: fields.name,
  url: fields.url,
  branch: fields.branch.default(null),
  tag: fields.tag.default(null),
  commit: fields.commit.default(null),
  auth: fields.auth.default("none"),
  username: fields.username.default(null),
  secret: fields.secret.default(null),
  ageIdentity: fields.ageIdentity.default(null),
  status: fields.status.default(null),
  caCertificate: fields.caCertificate.default(null),
  pollMinutes: fields.pollMinutes.default(5),
  signatures: fields.signatures.default("off"),
  signatureScope: fields.signatureScope.default("range"),
  allowedSigners: fields.allowedSigners.default(""),
  mapping: fields.mapping.default([]),
}).meta({
  id: "NewGitRepository",
  // Documented examples are also sent by tests, which reach no other server.
  example: { name: "Stacks", url: "https://git.example.com/ada/stacks.git", pollMinutes: 0 },
});

const RepositoryChange = z.object({
  ...fields,
  renewWebhookSecret: z.boolean().meta({ description: "Makes a new secret of the webhook" }),
}).partial().meta({ id: "GitRepositoryChanges", example: { pollMinutes: 0 } });

const shape = {
  id: z.string(),
  ...fields,
  name: z.string(),
  url: z.string(),
  secret: z.string().nullable().meta({ description: "`********` if there is one" }),
  ageIdentity: z.string().nullable().meta({ description: "`********` if there is one" }),
  head: Commit.nullable().meta({ description: "The last accepted commit" }),
  refused: Commit.extend({ reason: z.string() }).nullable().meta({
    description: "A newer commit that was not accepted",
  }),
  problems: z.array(z.string()).meta({ description: "Of the mapping" }),
  checkedAt: Timestamp.nullable(),
  fetchedAt: Timestamp.nullable(),
  error: z.string().nullable().meta({ description: "Why the last request to the server failed" }),
  webhookPath: z.string().meta({
    description: "Below the address of this service; for GitHub, GitLab, Gitea, Forgejo and " +
      "Bitbucket",
  }),
  stacks: z.array(z.object({
    name: z.string(),
    path: z.string(),
    state: z.enum(STACK_STATES),
  })),
  retryAt: Timestamp.nullable().meta({ description: "When a failed fetch is tried again" }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

const Repository = z.object(shape).meta({ id: "GitRepository" });

const RepositoryWithSecret = z.object({
  ...shape,
  webhookSecret: z.string().nullable().meta({
    description: "Of the webhook, if it was just made. It is not shown again",
  }),
}).meta({ id: "GitRepositoryWithSecret" });

const Test = z.object({
  ok: z.boolean(),
  error: z.string().nullable(),
  commit: z.string().nullable().meta({ description: "Id of the newest commit" }),
  durationMs: z.int(),
}).meta({ id: "GitRepositoryTest" });

const UNKNOWN = { 404: "The repository does not exist" };
const REFUSED = { 409: "The name is in use, or the limit of repositories is reached" };

const READ = { role: "admin", permission: "git:read" } as const;
const WRITE = { role: "admin", permission: "git:write" } as const;

export const gitRepositoryEndpoints = (deps: Deps) => [
  endpoint("GET /api/git/repositories", {
    operationId: "listGitRepositories",
    summary: "List Git repositories",
    description: "By name.",
    ...READ,
    returns: z.object({
      repositories: z.array(Repository),
      labels: z.record(z.string(), z.string()).meta({
        description: "Of this host, for `hosts` of mappings",
      }),
    }).meta({ id: "GitRepositoryList" }),
  }, () => ({ repositories: listRepositories(deps), labels: labelsOfHost(deps) })),

  endpoint("POST /api/git/repositories", {
    operationId: "createGitRepository",
    summary: "Add a Git repository",
    description:
      "It is fetched soon. Servers may be private; this host's loopback and link-local " +
      "addresses are rejected unless `OUTBOUND_ALLOW` lists them.",
    ...WRITE,
    body: NewRepository,
    returns: RepositoryWithSecret,
    status: 201,
    failures: REFUSED,
  }, ({ body, caller }) => createRepository(deps, caller, body)),

  endpoint("GET /api/git/repositories/:id", {
    operationId: "getGitRepository",
    summary: "Get a Git repository",
    ...READ,
    returns: Repository,
    failures: UNKNOWN,
  }, ({ params }) => getRepository(deps, params.id)),

  endpoint(
    "PUT /api/git/repositories/:id",
    {
      operationId: "updateGitRepository",
      summary: "Update a Git repository",
      description:
        "Omitted fields keep their values. The secret must be sent again if the server of " +
        "the URL changes.",
      ...WRITE,
      body: RepositoryChange,
      returns: RepositoryWithSecret,
      failures: { ...REFUSED, ...UNKNOWN },
    },
    ({ params, body: { renewWebhookSecret = false, ...body }, caller }) =>
      changeRepository(deps, caller, params.id, { ...body, renewWebhookSecret }),
  ),

  endpoint("DELETE /api/git/repositories/:id", {
    operationId: "deleteGitRepository",
    summary: "Delete a Git repository",
    description: "Its stacks keep their sources and containers, and follow nothing any more.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ caller, params }) => removeRepository(deps, caller, params.id)),

  endpoint("POST /api/git/repositories/:id/test", {
    operationId: "testGitRepository",
    summary: "Test a Git repository",
    description: "Asks the server for the newest commit. A failure is a response with `ok: false`.",
    ...WRITE,
    returns: Test,
    failures: UNKNOWN,
  }, ({ params }) => testRepository(deps, params.id)),

  endpoint("POST /api/git/repositories/:id/fetch", {
    operationId: "fetchGitRepository",
    summary: "Fetch a Git repository",
    description:
      "Fetches the newest commit and makes versions of it, also if it is the same or was " +
      "refused before.",
    ...WRITE,
    returns: Repository,
    failures: {
      404: "The repository, or what it follows, does not exist",
      502: "The server does not answer, or refuses the request",
    },
  }, async ({ params, caller }) => {
    await syncRepository(deps, params.id, caller, { isForced: true });
    return getRepository(deps, params.id);
  }),
];
