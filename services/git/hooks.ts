/** Webhooks of forges: whether a delivery is genuine, and the fetch that it requests. @module */

import { Buffer } from "node:buffer";
import { type GitRepository, selectGitRepositoryOfHook } from "../../db/git_repositories.ts";
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

/** GitLab with a signing token, and with a secret token. */
const STANDARD_HEADER = "webhook-signature";
const TOKEN_HEADER = "x-gitlab-token";

const SIGNED = [STANDARD_HEADER, TOKEN_HEADER, ...HMAC_HEADERS];

type HookDeps = Pick<Deps, "db" | "git" | "log" | "now" | "secrets">;

/** A delivery without its body. */
export interface HookRequest {
  headers: Headers;
  /** Of the client. */
  address: string;
}

/**
 * Finds the webhook of a request, before its body is read.
 *
 * @throws {AppError} `not_found` for an unknown token; `unauthorized` without any signature.
 */
export function findHook(deps: HookDeps, token: string, request: HookRequest): GitRepository {
  const repository = selectGitRepositoryOfHook(deps.db, token);
  if (!repository) throw new AppError("not_found", "This webhook does not exist");
  if (!SIGNED.some((name) => request.headers.has(name))) throw refusal(deps, repository, request);
  return repository;
}

/**
 * Takes a delivery. What it says does not matter: the repository is asked for its newest commit.
 *
 * @throws {AppError} `unauthorized` without a valid signature.
 */
export function receiveHook(
  deps: HookDeps,
  repository: GitRepository,
  { body, ...request }: HookRequest & { body: Uint8Array },
): void {
  const { git, now } = deps;
  const { id } = repository;
  const { webhookSecret } = openSecrets(deps, repository);
  const hash = hmac(webhookSecret, body).toString("hex");
  if (!isGenuine(webhookSecret, { ...request, body, hash }, now())) {
    throw refusal(deps, repository, request);
  }
  // Ids of deliveries are in headers, which most forges do not sign.
  if (git.isNewDelivery(`${id} ${hash}`)) git.request(id);
}

/** Logs one refused delivery of each minute and repository: the address is enough for a flood. */
function refusal(
  { git, log, now }: HookDeps,
  { id }: GitRepository,
  { address }: HookRequest,
): AppError {
  const count = git.countRefusal(id, now());
  if (count !== undefined) log.warn("git webhook refused", { address, repositoryId: id, count });
  return new AppError("unauthorized", "The signature of the webhook is missing or not valid");
}

/** Whether one of the signatures that forges send is valid; a wrong one beside it does not matter. */
function isGenuine(
  secret: string,
  { headers, body, hash }: { headers: Headers; body: Uint8Array; hash: string },
  now: Date,
): boolean {
  const signature = headers.get(STANDARD_HEADER);
  if (signature !== null) return isStandard(secret, headers, body, now, signature);
  const token = headers.get(TOKEN_HEADER);
  if (token !== null) return timingSafeEqual(token, secret);
  return HMAC_HEADERS.some((name) => {
    const given = headers.get(name);
    return given !== null && timingSafeEqual(given.replace(/^sha256=/, "").toLowerCase(), hash);
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
