/** The `git_repositories` table: repositories whose commits become versions of stacks. @module */

import { json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import type { VersionCommit } from "./stack_versions.ts";

export const REF_KINDS = ["head", "branch", "tag", "commit"] as const;
export const GIT_AUTHS = ["none", "token", "basic"] as const;
export const SIGNATURE_MODES = ["off", "required"] as const;
export const SIGNATURE_SCOPES = ["range", "head"] as const;

/** Fate of a new version: it is only shown, planned, or deployed. */
export const GIT_DEPLOYS = ["manual", "plan", "auto"] as const;
export type GitDeploy = (typeof GIT_DEPLOYS)[number];

/** Files of a repository that become stacks. */
export interface GitMapping {
  /** Compose file; `*` stands for one part of the path. */
  path: string;
  /** Name of the stack; `*` stands for the same text. */
  name: string;
  deploy: GitDeploy;
  profiles: string[] | null;
  /** On the host, for relative paths; `*` stands for the same text. */
  directory: string | null;
  /** Labels that a host must have, all of them; otherwise the mapping does not apply to it. */
  hosts: Record<string, string>;
  /** Variables behind those of the repository's `.env`. */
  env: Record<string, string>;
}

/** A commit that was not accepted. */
export interface RefusedCommit extends VersionCommit {
  reason: string;
}

const repositories = table("git_repositories", {
  id: text(),
  name: text(),
  url: text(),
  refKind: text<(typeof REF_KINDS)[number]>(),
  /** Empty for the default branch. */
  refName: text(),
  auth: text<(typeof GIT_AUTHS)[number]>(),
  /** Of `basic`. */
  username: text<string | null>(),
  /** PEM. */
  caCertificate: text<string | null>(),
  /** Encrypted JSON: credentials and the secret of the webhook. */
  sealedSecrets: text(),
  /** 0: off. */
  pollMinutes: number(),
  signatures: text<(typeof SIGNATURE_MODES)[number]>(),
  signatureScope: text<(typeof SIGNATURE_SCOPES)[number]>(),
  /** As in the file `allowed_signers` of `ssh-keygen`. */
  allowedSigners: text(),
  mapping: json<GitMapping[]>(),
  /** Part of the address of its webhook. */
  hookToken: text(),
  /** The last accepted commit. */
  head: json<VersionCommit | null>(),
  refused: json<RefusedCommit | null>(),
  /** Of the mapping, e.g. a stack that exists already. */
  problems: json<string[]>(),
  /** Of this host, when the mapping was applied last. */
  labels: json<Record<string, string>>(),
  /** Last request to the server, and last fetch; ISO 8601, UTC. */
  checkedAt: text<string | null>(),
  fetchedAt: text<string | null>(),
  /** Why the last request failed. */
  error: text<string | null>(),
  /** Time of the next attempt after a failed fetch; ISO 8601, UTC. */
  retryAt: text<string | null>(),
  createdAt: text(),
  updatedAt: text(),
}, { order: "name" });

/** One repository as stored. */
export type GitRepository = Row<typeof repositories>;

export const {
  find: selectGitRepository,
  count: countGitRepositories,
  /** Throws a unique violation if the name is in use. */
  insert: insertGitRepository,
  /** Throws a unique violation if the name is in use. */
  save: updateGitRepository,
  delete: deleteGitRepository,
  /** All repositories by name. */
  all: selectGitRepositories,
  /** Changes some fields, e.g. the outcome of a fetch. */
  update: updateGitRepositoryFields,
} = repositories;

export function selectGitRepositoryOfHook(
  db: Database,
  hookToken: string,
): GitRepository | undefined {
  return repositories.selectOne(db, "WHERE hook_token = :hookToken", { hookToken });
}
