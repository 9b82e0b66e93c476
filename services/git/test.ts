/** Test of a repository: whether its server answers. @module */

import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import type { OutboundDeps } from "../outbound/url.ts";
import { remoteOf } from "./credentials.ts";
import { readNewest } from "./fetch/repository.ts";
import { requireRepository } from "./repositories.ts";

export interface RepositoryTest {
  ok: boolean;
  error: string | null;
  /** Id of the newest commit. */
  commit: string | null;
  durationMs: number;
}

/** @throws {AppError} `not_found`. */
export async function testRepository(
  deps: OutboundDeps & Pick<Deps, "db" | "git" | "secrets">,
  id: string,
): Promise<RepositoryTest> {
  const repository = requireRepository(deps, id);
  const startMs = performance.now();
  const outcome = (error: string | null, commit: string | null) => ({
    ok: error === null,
    error,
    commit,
    durationMs: Math.round(performance.now() - startMs),
  });
  try {
    const { refKind: kind, refName: name } = repository;
    const commit = await readNewest(deps, id, remoteOf(deps, repository), { kind, name });
    if (commit !== undefined) return outcome(null, commit);
    return outcome("The repository has no such branch or tag, or no commits", null);
  } catch (error) {
    const known = asAppError(error);
    if (!known) throw error;
    return outcome(known.message, null);
  }
}
