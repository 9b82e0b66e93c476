/** Repositories as the API shows and changes them. @module */

import {
  countGitRepositories,
  deleteGitRepository,
  type GitRepository,
  insertGitRepository,
  selectGitRepositories,
  selectGitRepository,
  updateGitRepository,
} from "../../db/git_repositories.ts";
import { deleteGitStacksOf, selectGitStacksOf } from "../../db/git_stacks.ts";
import { selectCurrentVersion, type VersionCommit } from "../../db/stack_versions.ts";
import { randomText } from "../builtins.ts";
import { assertMayDo, type Caller } from "../access/caller.ts";
import type { Change } from "../change.ts";
import type { Deps } from "../deps.ts";
import { AppError, requireFound, tooMany } from "../errors.ts";
import { openIfPossible } from "../secrets/secrets.ts";
import { REDACTED } from "../text/redact.ts";
import { openSecrets, readSecrets, type RepositorySecrets, sealSecrets } from "./credentials.ts";
import { removeBare } from "./fetch/bare.ts";
import {
  assertNoneKept,
  checkSettings,
  mergeSettings,
  redacted,
  refOf,
  type RepositorySettings,
  type SettingsDeps,
  settingsOf,
} from "./settings.ts";
import { type StackState, stateOf } from "./state.ts";

const REPOSITORIES_MAX = 100;

/** Part of the address of a webhook, and its secret, in bytes. */
const HOOK_TOKEN_BYTES = 18;
const HOOK_SECRET_BYTES = 32;

type ViewDeps = Pick<Deps, "db" | "secrets">;
type RepositoryDeps = SettingsDeps & Pick<Deps, "git" | "now" | "log">;

/** A repository as the API returns it; the secret is redacted. */
export interface RepositoryView extends
  RepositorySettings,
  Pick<
    GitRepository,
    | "id"
    | "head"
    | "refused"
    | "problems"
    | "checkedAt"
    | "fetchedAt"
    | "error"
    | "retryAt"
    | "createdAt"
    | "updatedAt"
  > {
  /** Of the webhook, below the address of this service. */
  webhookPath: string;
  stacks: { name: string; path: string; state: StackState }[];
}

/** A repository, and the secret of its webhook if it was just made. */
export type RepositoryWithSecret = RepositoryView & { webhookSecret: string | null };

/** All repositories by name. */
export const listRepositories = (deps: ViewDeps): RepositoryView[] =>
  selectGitRepositories(deps.db).map((repository) => toView(deps, repository));

/** @throws {AppError} `not_found`. */
export const getRepository = (deps: ViewDeps, id: string): RepositoryView =>
  toView(deps, requireRepository(deps, id));

/**
 * Stores a new repository. Nothing is fetched.
 *
 * @throws {AppError} `invalid` for settings that do not fit each other; `conflict` for a name in use, and
 * when the limit is reached; `forbidden` for a deploy by a caller who may not deploy.
 */
export async function createRepository(
  deps: RepositoryDeps,
  caller: Caller,
  given: RepositorySettings,
): Promise<RepositoryWithSecret> {
  const { db, now, log } = deps;
  assertNoneKept(given);
  assertMayMap(caller, given);
  const settings = await checkSettings(deps, given);
  // No await from here on, so that concurrent requests cannot exceed the limit.
  if (countGitRepositories(db) >= REPOSITORIES_MAX) {
    throw tooMany("Git repositories", REPOSITORIES_MAX);
  }
  const at = now().toISOString();
  const webhookSecret = newHookSecret();
  const repository: GitRepository = {
    ...NEW,
    ...rowOf(deps, crypto.randomUUID(), settings, webhookSecret),
    hookToken: randomText(HOOK_TOKEN_BYTES),
    createdAt: at,
    updatedAt: at,
  };
  insertGitRepository(db, repository);
  deps.git.request(repository.id);
  log.info("git repository created", { repositoryId: repository.id });
  return { ...toView(deps, repository), webhookSecret };
}

const NEW = {
  head: null,
  refused: null,
  problems: [],
  checkedAt: null,
  fetchedAt: null,
  error: null,
  retryAt: null,
  labels: {},
};

/** Standard Webhooks; GitLab accepts it as a signing token, the other forges as a secret. */
const newHookSecret = () =>
  `whsec_${crypto.getRandomValues(new Uint8Array(HOOK_SECRET_BYTES)).toBase64()}`;

function rowOf(
  { secrets }: Pick<Deps, "secrets">,
  id: string,
  settings: RepositorySettings,
  webhookSecret: string,
) {
  const { branch: _, tag: __, commit: ___, secret, ageIdentity, status, ...fields } = settings;
  const values: RepositorySecrets = { secret, ageIdentity, status, webhookSecret };
  return {
    ...fields,
    ...refOf(settings),
    id,
    sealedSecrets: sealSecrets(secrets, { id, url: settings.url }, values),
  };
}

/**
 * Changes the given fields. The secret is kept for the same server only. Another address begins with
 * another history.
 *
 * @throws {AppError} As {@linkcode createRepository}; `not_found`.
 */
export async function changeRepository(
  deps: RepositoryDeps,
  caller: Caller,
  id: string,
  { renewWebhookSecret, ...change }: Change<RepositorySettings> & { renewWebhookSecret: boolean },
): Promise<RepositoryWithSecret> {
  const { db, now, log } = deps;
  const found = requireRepository(deps, id);
  // Another address or other signers would deploy something else.
  if (selectGitStacksOf(db, id).length > 0) assertMayDo(caller, "admin", "stacks:write");
  const known = openSecrets(deps, found);
  const merged = mergeSettings(settingsOf(found, known), change);
  assertMayMap(caller, merged);
  const settings = await checkSettings(deps, merged);
  const before = requireRepository(deps, id);
  const webhookSecret = renewWebhookSecret ? newHookSecret() : known.webhookSecret;
  const isElsewhere = settings.url !== before.url;
  const after: GitRepository = {
    ...before,
    ...(isElsewhere && NEW),
    ...rowOf(deps, id, settings, webhookSecret),
    hookToken: before.hookToken,
    updatedAt: now().toISOString(),
  };
  updateGitRepository(db, after);
  // After a fetch that is running, which would write objects of the other address.
  if (isElsewhere) await deps.git.run(id, () => removeBare(deps, id));
  deps.git.request(id);
  log.info("git repository changed", { repositoryId: id });
  return { ...getRepository(deps, id), webhookSecret: renewWebhookSecret ? webhookSecret : null };
}

/**
 * Forgets a repository. Its stacks keep their sources and containers, and follow nothing any more.
 *
 * @throws {AppError} `not_found`; `forbidden` for one with stacks by a caller who may not change stacks.
 */
export async function removeRepository(
  deps: Pick<Deps, "config" | "db" | "git" | "log">,
  caller: Caller,
  id: string,
): Promise<void> {
  requireRepository(deps, id);
  if (selectGitStacksOf(deps.db, id).length > 0) assertMayDo(caller, "admin", "stacks:write");
  deps.db.transaction(() => {
    deleteGitStacksOf(deps.db, id);
    deleteGitRepository(deps.db, id);
  });
  // A fetch that is running would create it again.
  await deps.git.run(id, () => removeBare(deps, id));
  deps.log.info("git repository deleted", { repositoryId: id });
}

/** @throws {AppError} `not_found`. */
export const requireRepository = ({ db }: Pick<Deps, "db">, id: string): GitRepository =>
  requireFound(selectGitRepository(db, id), "Git repository", id);

/** Whether a commit has a signer, if signatures are required now. The last accepted one was checked again. */
export const isAccepted = (
  { signatures, head }: Pick<GitRepository, "signatures" | "head">,
  { id, signer }: VersionCommit,
): boolean => signatures === "off" || signer !== null || (head?.id === id && head.signer !== null);

/**
 * Ends a round whose settings are no longer those of the repository. Each change seals the secrets again.
 *
 * @throws {AppError} `not_found`; `conflict`.
 */
export function assertUnchanged(
  deps: Pick<Deps, "db">,
  { id, name, sealedSecrets }: GitRepository,
): void {
  if (requireRepository(deps, id).sealedSecrets === sealedSecrets) return;
  throw new AppError("conflict", `The settings of ${name} were changed meanwhile; try again`);
}

/**
 * A mapping creates stacks, and may deploy them.
 *
 * @throws {AppError} `forbidden`
 */
function assertMayMap(caller: Caller, { mapping }: Pick<RepositorySettings, "mapping">): void {
  if (mapping.length > 0) assertMayDo(caller, "admin", "stacks:write");
}

function toView(deps: ViewDeps, repository: GitRepository): RepositoryView {
  const { db } = deps;
  const { hookToken, auth } = repository;
  // Without the key, what cannot be opened is shown as stored, as far as it is known.
  const secrets = openIfPossible(() => readSecrets(deps, repository)) ??
    { secret: auth === "none" ? null : REDACTED, ageIdentity: null, status: null };
  return {
    ...repository,
    ...settingsOf(repository, redacted(secrets)),
    webhookPath: `/hooks/git/${hookToken}`,
    stacks: selectGitStacksOf(db, repository.id).map((row) => ({
      name: row.stack,
      path: row.path,
      state: stateOf(row, selectCurrentVersion(db, row.stack)?.version),
    })),
  };
}
