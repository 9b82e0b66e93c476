/** Webhooks of forges: whether a delivery is genuine, and the fetch that it requests. @module */

import { Buffer } from "node:buffer";
import { selectGitRepositoryOfHook } from "../../db/git_repositories.ts";
import { timingSafeEqual } from "../access/timing_safe_equal.ts";
import { nodeCrypto } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { openSecrets } from "./credentials.ts";

/** Largest difference of the clocks, in milliseconds (Standard Webhooks). */
const SKEW_MS = 5 * 60_000;

/** Headers with the HMAC of the body in hexadecimal digits, perhaps after `sha256=`. */
const HMAC_HEADERS = [
  "x-hub-signature-256", // GitHub, and Gitea and Forgejo as well
  "x-gitea-signature",
  "x-forgejo-signature",
  "x-gogs-signature",
  "x-hub-signature", // Bitbucket; that of GitHub with SHA-1 is not accepted
] as const;

type HookDeps = Pick<Deps, "anonymousLog" | "db" | "git" | "now" | "secrets">;

/** @throws {AppError} `not_found` for a token that no repository has. */
export function assertHook({ db }: Pick<Deps, "db">, token: string): void {
  if (!selectGitRepositoryOfHook(db, token)) {
    throw new AppError("not_found", "This webhook does not exist");
  }
}

/**
 * Takes a delivery. What it says does not matter: the repository is asked for its newest commit.
 *
 * @throws {AppError} `not_found` for an unknown token; `unauthorized` without a valid signature.
 */
export function receiveHook(
  deps: HookDeps,
  token: string,
  { headers, body, address }: { headers: Headers; body: Uint8Array; address: string },
): void {
  assertHook(deps, token);
  const repository = selectGitRepositoryOfHook(deps.db, token)!;
  const { webhookSecret } = openSecrets(deps, repository);
  if (!isGenuine(webhookSecret, headers, body, deps.now())) {
    deps.anonymousLog.warn("git webhook refused", { address, repositoryId: repository.id });
    throw new AppError("unauthorized", "The signature of the webhook is missing or not valid");
  }
  // Ids of deliveries are in headers, which most forges do not sign.
  const key = `${repository.id} ${hmac(webhookSecret, body).toString("hex")}`;
  if (deps.git.isNewDelivery(key)) deps.git.request(repository.id);
}

/** Whether one of the signatures that forges send is valid; a wrong one beside it does not matter. */
export function isGenuine(
  secret: string,
  headers: Headers,
  body: Uint8Array,
  now: Date,
): boolean {
  const signature = headers.get("webhook-signature");
  if (signature !== null) return isStandard(secret, headers, body, now, signature);
  const token = headers.get("x-gitlab-token");
  if (token !== null) return timingSafeEqual(token, secret);
  const expected = hmac(secret, body).toString("hex");
  return HMAC_HEADERS.some((name) => {
    const given = headers.get(name);
    return given !== null && timingSafeEqual(given.replace(/^sha256=/, "").toLowerCase(), expected);
  });
}

/** GitLab's signing token, as of https://www.standardwebhooks.com. */
function isStandard(
  secret: string,
  headers: Headers,
  body: Uint8Array,
  now: Date,
  given: string,
): boolean {
  const [id, timestamp] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
  if (id === null || timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Number(timestamp) * 1000 - now.getTime()) > SKEW_MS) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const expected = `v1,${hmac(key, signed).toString("base64")}`;
  return given.split(" ").some((each) => timingSafeEqual(each, expected));
}

const hmac = (key: string | Uint8Array, body: Uint8Array): Buffer =>
  nodeCrypto().createHmac("sha256", key).update(body).digest();
