/** Secrets of a repository, stored encrypted and bound to its server. @module */

import type { GitRepository } from "../../db/git_repositories.ts";
import type { Deps } from "../deps.ts";
import { basicAuthorization } from "../outbound/url_credentials.ts";
import { openOrConflict, type Secrets } from "../secrets/secrets.ts";
import type { Remote } from "./fetch/http.ts";
import type { StatusSettings } from "./status/settings.ts";

export interface RepositorySecrets {
  /** The token or the password. */
  secret: string | null;
  /** Of the webhook, in the form of Standard Webhooks: `whsec_` and base64. */
  webhookSecret: string;
  /** Of age, for files that SOPS has encrypted. */
  ageIdentity: string | null;
  /** With its token. */
  status: StatusSettings | null;
}

/** User name of forges that accept a token in place of a password. */
const TOKEN_USER = "oauth2";

/** The server is part of the purpose, so that secrets cannot be moved to another one. */
const purposeOf = ({ id, url }: Pick<GitRepository, "id" | "url">) =>
  `git repository ${id} ${new URL(url).origin} secrets`;

export const sealSecrets = (
  secrets: Secrets,
  repository: Pick<GitRepository, "id" | "url">,
  values: RepositorySecrets,
): string => secrets.seal(JSON.stringify(values), purposeOf(repository));

type Sealed = Pick<GitRepository, "id" | "url" | "name" | "sealedSecrets">;

/** @throws {SealError} If they cannot be decrypted. */
export const readSecrets = (
  { secrets }: Pick<Deps, "secrets">,
  repository: Sealed,
): RepositorySecrets => ({
  ageIdentity: null,
  status: null,
  ...JSON.parse(secrets.open(repository.sealedSecrets, purposeOf(repository))),
});

/** @throws {AppError} `conflict` if they cannot be decrypted. */
export const openSecrets = (
  deps: Pick<Deps, "secrets">,
  repository: Sealed,
): RepositorySecrets =>
  openOrConflict(
    () => readSecrets(deps, repository),
    `delete the repository ${repository.name} and add it again`,
  );

/** How the repository is reached, with its credentials. */
export function remoteOf(
  deps: Pick<Deps, "secrets">,
  repository: GitRepository,
): Remote {
  const { url, auth, username, caCertificate } = repository;
  const { secret } = openSecrets(deps, repository);
  const user = auth === "basic" ? username ?? "" : TOKEN_USER;
  return {
    url,
    caCertificate,
    authorization: auth === "none" || secret === null ? null : basicAuthorization(user, secret),
  };
}
