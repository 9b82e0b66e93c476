/** One round of a repository: compares its ref, fetches, checks signatures, and follows the commit. @module */

import {
  type GitRepository,
  selectGitRepository,
  updateGitRepositoryFields,
} from "../../db/git_repositories.ts";
import type { VersionCommit } from "../../db/stack_versions.ts";
import { recordAudit } from "../access/audit/audit.ts";
import type { AuditActor } from "../access/audit/audit.ts";
import { AppError, asAppError } from "../errors.ts";
import { emit } from "../events/emit.ts";
import { errorFields } from "../log.ts";
import type { OutboundDeps } from "../outbound/url.ts";
import { SignatureError } from "../release/ssh_signature.ts";
import { remoteOf } from "./credentials.ts";
import { type Bare, type FollowedRef, removeBare } from "./fetch/bare.ts";
import type { Remote } from "./fetch/http.ts";
import { openRepository, readNewest } from "./fetch/repository.ts";
import { followCommit, type FollowDeps } from "./follow.ts";
import { hasOtherLabels, labelsOfHost } from "./labels.ts";
import { assertUnchanged, requireRepository } from "./repositories.ts";
import { nextRetry } from "./retries.ts";
import { verifyCommit } from "./signatures.ts";
import { parseSigners } from "./signers.ts";

export type SyncDeps = FollowDeps & OutboundDeps;

export interface SyncOptions {
  /** Fetches also the same and a refused commit again. */
  isForced?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Fetches the newest commit of a repository, if it is new, and lets it become versions of its stacks.
 * Rounds of one repository take turns. The outcome is stored; only the first of several failures is
 * reported.
 *
 * @throws {AppError} `not_found`; the failure of the round.
 */
export async function syncRepository(
  deps: SyncDeps,
  id: string,
  actor: AuditActor,
  options: SyncOptions = {},
): Promise<void> {
  await deps.git.run(id, async () => {
    const repository = requireRepository(deps, id);
    try {
      await sync(deps, repository, actor, options);
    } catch (error) {
      if (options.signal?.aborted) return;
      // The next round uses the other settings.
      assertUnchanged(deps, repository);
      recordFailure(deps, repository, error);
      throw error;
    }
  });
}

async function sync(
  deps: SyncDeps,
  repository: GitRepository,
  actor: AuditActor,
  { isForced = false, signal }: SyncOptions,
): Promise<void> {
  const { db, now } = deps;
  const { id, head, refused } = repository;
  const remote = remoteOf(deps, repository);
  const ref = refOf(repository);
  const newest = await readNewest(deps, id, remote, ref, signal);
  const checkedAt = now().toISOString();
  if (newest === undefined) {
    throw new AppError("not_found", `The repository does not have the ${describeRef(ref)}`);
  }
  assertUnchanged(deps, repository);
  const labels = labelsOfHost(deps);
  const isKnown = (newest === head?.id || newest === refused?.id) && !isChanged(repository) &&
    !hasOtherLabels(repository, labels);
  if (isKnown && !isForced) {
    updateGitRepositoryFields(db, id, { checkedAt, error: null, retryAt: null });
    // A forge can send it before its reference has changed, and again afterwards.
    deps.git.forgetDeliveries(id);
    return;
  }
  const fetchOnce = () => fetchAndFollow(deps, { ...repository, labels }, remote, signal);
  const commit = await deps.git.limit(() =>
    fetchOnce().catch(async (error) => {
      if (asAppError(error) || signal?.aborted) throw error;
      // Objects are missing or damaged here.
      deps.log.warn("git repository fetched again", { repositoryId: id, ...errorFields(error) });
      await removeBare(deps, id);
      return await fetchOnce();
    })
  );
  if (!commit) return;
  deps.log.info("git commit fetched", { repositoryId: id, commit: commit.id });
  if (commit.id === head?.id) return;
  deps.git.forgetDeliveries(id);
  recordAudit(deps, {
    caller: actor,
    action: "git commit",
    target: repository.name,
    targets: [repository.name, id, commit.id],
    command: `${commit.id} by ${commit.author}${
      commit.signer === null ? "" : `, signed by ${commit.signer}`
    }: ${commit.message}`,
    outcome: "success",
  });
}

/** @returns The commit; `undefined` if it was refused. */
async function fetchAndFollow(
  deps: SyncDeps,
  repository: GitRepository,
  remote: Remote,
  signal: AbortSignal | undefined,
): Promise<VersionCommit | undefined> {
  const { db, now } = deps;
  const { id, head, labels } = repository;
  using bare = openRepository(deps, id, signal);
  const fetched = await bare.fetch(remote, refOf(repository), head !== null);
  const commit = await acceptCommit(deps, repository, bare, fetched);
  const problems = commit && await followCommit(deps, repository, { bare, commit });
  assertUnchanged(deps, repository);
  const at = now().toISOString();
  // Last, so that after a crash the commit is followed again.
  updateGitRepositoryFields(db, id, {
    checkedAt: at,
    fetchedAt: at,
    error: null,
    retryAt: null,
    labels,
    ...(commit && { head: commit, refused: null, problems: problems! }),
  });
  return commit;
}

/** Other settings give the same commit another meaning. */
const isChanged = ({ fetchedAt, updatedAt }: GitRepository) =>
  fetchedAt === null || fetchedAt <= updatedAt;

const refOf = ({ refKind: kind, refName: name }: GitRepository): FollowedRef => ({ kind, name });

const describeRef = ({ kind, name }: FollowedRef) =>
  kind === "head" ? "branch HEAD; it may be empty" : `${kind} ${name}`;

/** @returns The commit with its signer; `undefined` if it was refused, which is reported once. */
async function acceptCommit(
  deps: SyncDeps,
  repository: GitRepository,
  bare: Bare,
  id: string,
): Promise<VersionCommit | undefined> {
  const { author, message, committedAt } = await bare.commit(id);
  const commit = { id, author, message, committedAt, signer: null };
  try {
    return { ...commit, signer: await signerOf(deps, repository, bare, id) };
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    if (repository.refused?.id === id && repository.refused.reason === error.message) {
      return undefined;
    }
    assertUnchanged(deps, repository);
    const reason = error.message;
    const data = { repository: repository.name, commit: id, author, message, reason };
    emit(deps, "git.commit_refused", data, () => {
      updateGitRepositoryFields(deps.db, repository.id, { refused: { ...commit, reason } });
    });
    return undefined;
  }
}

/**
 * Verifies the signatures of a commit and, unless only that counts, of all commits since the last
 * accepted one.
 *
 * @returns Who signed the commit; `null` if signatures are off.
 * @throws {SignatureError} With the commit.
 */
async function signerOf(
  deps: SyncDeps,
  { signatures, signatureScope, allowedSigners, head }: GitRepository,
  bare: Bare,
  id: string,
): Promise<string | null> {
  if (signatures === "off") return null;
  const signers = parseSigners(allowedSigners, "allowedSigners");
  const range = signatureScope === "range" && head !== null && head.id !== id
    ? await bare.range(head.id, id)
    : { commits: [], isPartial: false };
  if (range.isPartial) {
    throw new SignatureError(
      "There are more than 1,000 commits since the last accepted one, or their history was not " +
        "fetched; check only the newest commit (signatureScope head) to accept them",
    );
  }
  for (const commit of range.commits) {
    if (commit !== id) await verify(deps, bare, commit, signers);
  }
  return await verify(deps, bare, id, signers);
}

async function verify(
  deps: SyncDeps,
  bare: Bare,
  id: string,
  signers: ReturnType<typeof parseSigners>,
): Promise<string> {
  try {
    return await verifyCommit(bare, deps, id, signers);
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    throw new SignatureError(`Commit ${id.slice(0, 10)} is refused: ${error.message}`);
  }
}

function recordFailure(deps: SyncDeps, { id, name }: GitRepository, error: unknown): void {
  const known = asAppError(error);
  deps.git.forgetDeliveries(id);
  const reason = known?.message ?? "Internal error";
  if (!known) deps.log.error("git fetch failed", { repositoryId: id, ...errorFields(error) });
  const stored = selectGitRepository(deps.db, id);
  if (!stored) return;
  const now = deps.now();
  const tried = { checkedAt: now.toISOString(), retryAt: nextRetry(stored, now) };
  // The engine is away, which is reported elsewhere.
  const isOurs = known?.code !== "unavailable";
  const changes = isOurs ? { ...tried, error: reason } : tried;
  if (!isOurs || stored.error !== null) {
    updateGitRepositoryFields(deps.db, id, changes);
    return;
  }
  deps.log.warn("git fetch failed", { repositoryId: id, reason });
  emit(deps, "git.fetch_failed", { repository: name, reason }, () => {
    updateGitRepositoryFields(deps.db, id, changes);
  });
}
