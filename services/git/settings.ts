/** Settings of repositories: checks, and what a change keeps. @module */

import type { GitMapping, GitRepository } from "../../db/git_repositories.ts";
import { type Change, definedFields } from "../change.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { assertCertificates } from "../outbound/certificates.ts";
import type { OutboundDeps } from "../outbound/url.ts";
import { GIVE_AGAIN, NOTHING_STORED, REDACTED } from "../text/redact.ts";
import { checkRepositoryUrl } from "./address.ts";
import { isIdentity } from "./sops/open.ts";
import { checkStatus, mergeStatus, type StatusSettings } from "./status/settings.ts";
import { parseSigners } from "./signers.ts";

export {
  GIT_AUTHS,
  GIT_DEPLOYS,
  SIGNATURE_MODES,
  SIGNATURE_SCOPES,
} from "../../db/git_repositories.ts";

/** Settings of a repository in requests. */
export interface RepositorySettings extends
  Pick<
    GitRepository,
    | "name"
    | "url"
    | "auth"
    | "username"
    | "caCertificate"
    | "pollMinutes"
    | "signatures"
    | "signatureScope"
    | "allowedSigners"
    | "mapping"
  > {
  /** At most one of the three; none for the default branch. */
  branch: string | null;
  tag: string | null;
  commit: string | null;
  /** The token or the password. */
  secret: string | null;
  /** Of age, for files that SOPS has encrypted. */
  ageIdentity: string | null;
  /** Forge that gets the status of commits. */
  status: StatusSettings | null;
}

/** Fields that are stored encrypted, and redacted in answers. */
export type SettingsSecrets = Pick<RepositorySettings, (typeof SECRETS)[number] | "status">;
const SECRETS = ["secret", "ageIdentity"] as const;

export type SettingsDeps = OutboundDeps & Pick<Deps, "db" | "secrets">;

export const refOf = (
  { branch, tag, commit }: Pick<RepositorySettings, "branch" | "tag" | "commit">,
): Pick<GitRepository, "refKind" | "refName"> =>
  branch !== null
    ? { refKind: "branch", refName: branch }
    : tag !== null
    ? { refKind: "tag", refName: tag }
    : commit !== null
    ? { refKind: "commit", refName: commit }
    : { refKind: "head", refName: "" };

/**
 * Checks settings that belong together.
 *
 * @returns The settings with the one spelling of the address.
 * @throws {AppError} `invalid`
 */
export async function checkSettings(
  deps: SettingsDeps,
  settings: RepositorySettings,
): Promise<RepositorySettings> {
  const problem = (text: string) => new AppError("invalid", `body.${text}`);
  const { branch, tag, commit, auth, username, secret, caCertificate } = settings;
  if ([branch, tag, commit].filter((name) => name !== null).length > 1) {
    throw problem("branch: only one of branch, tag and commit may be given");
  }
  if (auth === "none" && secret !== null) throw problem("secret: needs auth token or basic");
  if (auth !== "none" && secret === null) throw problem(`secret: is required for auth ${auth}`);
  if (auth === "basic" && username === null) throw problem("username: is required for auth basic");
  if (auth !== "basic" && username !== null) throw problem("username: needs auth basic");
  if (caCertificate !== null) assertCertificates(caCertificate, "body.caCertificate");
  const signers = parseSigners(settings.allowedSigners, "body.allowedSigners");
  if (settings.signatures === "required" && signers.length === 0) {
    throw problem("allowedSigners: is required for signatures required");
  }
  const { ageIdentity } = settings;
  if (ageIdentity !== null && !await isIdentity(ageIdentity)) {
    throw problem("ageIdentity: must be an identity as age-keygen makes it: AGE-SECRET-KEY-1...");
  }
  for (const [at, mapping] of settings.mapping.entries()) {
    const text = describeProblem(mapping);
    if (text !== undefined) throw problem(`mapping.${at}.${text}`);
  }
  return {
    ...settings,
    status: await checkStatus(deps, settings.status),
    url: await checkRepositoryUrl(deps, settings.url, "body.url"),
  };
}

function describeProblem({ path, name, directory }: GitMapping): string | undefined {
  const stars = (text: string) => text.split("*").length - 1;
  if (stars(path) > 1) return "path: must have at most one *";
  if (stars(path) === 1) {
    return stars(name) === 0
      ? "name: must have a *, because the path has one"
      : directory !== null && stars(directory) === 0
      ? "directory: must have a *, because the path has one"
      : undefined;
  }
  return stars(name) > 0
    ? "name: must not have a *, because the path has none"
    : directory !== null && stars(directory) > 0
    ? "directory: must not have a *, because the path has none"
    : undefined;
}

/** @throws {AppError} `invalid` for a redacted secret, which a new repository cannot keep. */
export function assertNoneKept(settings: SettingsSecrets): void {
  mergeStatus(null, settings.status);
  for (const name of SECRETS) {
    if (settings[name] === REDACTED) {
      throw new AppError("invalid", `body.${name}: ${NOTHING_STORED}`);
    }
  }
}

/** Secrets as answers show them. */
export const redacted = ({ secret, ageIdentity, status }: SettingsSecrets): SettingsSecrets => ({
  secret: secret === null ? null : REDACTED,
  ageIdentity: ageIdentity === null ? null : REDACTED,
  status: status && { ...status, token: REDACTED },
});

/** @param secrets The stored ones. */
export const settingsOf = (
  repository: GitRepository,
  { secret, ageIdentity, status }: SettingsSecrets,
): RepositorySettings => {
  const { refKind, refName } = repository;
  const named = (kind: GitRepository["refKind"]) => refKind === kind ? refName : null;
  return {
    ...repository,
    branch: named("branch"),
    tag: named("tag"),
    commit: named("commit"),
    secret,
    ageIdentity,
    status,
  };
};

/**
 * The settings after a change. Secrets are kept for the same server only.
 *
 * @throws {AppError} `invalid` for a secret that cannot be kept.
 */
export function mergeSettings(
  before: RepositorySettings,
  change: Change<RepositorySettings>,
): RepositorySettings {
  const { branch, tag, commit } = change;
  const given = [branch, tag, commit].some((name) => typeof name === "string");
  const merged: RepositorySettings = {
    ...before,
    ...(given && { branch: null, tag: null, commit: null }),
    ...definedFields(change),
    status: mergeStatus(before.status, change.status),
  };
  if (merged.auth !== "basic") merged.username = change.username ?? null;
  const isElsewhere = URL.parse(merged.url)?.origin !== new URL(before.url).origin;
  for (const name of SECRETS) {
    const { [name]: given = REDACTED } = change;
    if (name === "secret" && merged.auth === "none") merged[name] = null;
    else if (given === REDACTED) merged[name] = keptSecret(name, before, change, isElsewhere);
  }
  return merged;
}

function keptSecret(
  name: (typeof SECRETS)[number],
  { [name]: stored }: RepositorySettings,
  { [name]: given }: Change<RepositorySettings>,
  isElsewhere: boolean,
): string | null {
  const problem = stored === null
    ? given === REDACTED ? NOTHING_STORED : undefined
    : isElsewhere
    ? GIVE_AGAIN
    : undefined;
  if (problem !== undefined) throw new AppError("invalid", `body.${name}: ${problem}`);
  return stored;
}
