/** /hooks/git: webhooks of Git forges. @module */

import * as z from "zod";
import { findHook, receiveHook } from "../../services/git/hooks.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { PathText } from "../contract/shapes.ts";
import { GrowingBytes } from "../pipeline/growing_bytes.ts";
import { rateLimit } from "../pipeline/rate_limit.ts";
import { readUpload } from "../pipeline/upload.ts";

/** Limit per client address: a forge sends one for each push. */
const HOOKS_PER_MINUTE = 120;

const BODY_BYTES_MAX = 2 * 1024 * 1024;

const TYPES = ["application/json", "application/x-www-form-urlencoded"];

export const gitHookEndpoints = (deps: Deps) => {
  const limit = rateLimit(HOOKS_PER_MINUTE, deps.now);
  return [
    endpoint("POST /hooks/git/:token", {
      operationId: "receiveGitWebhook",
      summary: "Receive a Git webhook",
      description:
        "For pushes from GitHub, GitLab, Gitea, Forgejo and Bitbucket, with the secret of " +
        "the repository. The repository is then asked for its newest commit.",
      role: "public",
      throttle: limit.check,
      unaudited: true,
      ignoresUnknown: true,
      headers: {
        "X-Hub-Signature-256": "GitHub, Gitea and Forgejo: `sha256=` and the HMAC of the body",
        "X-Gitlab-Token": "GitLab: the secret itself",
        "Webhook-Signature": "GitLab with a signing token, see Standard Webhooks",
      },
      upload: { types: TYPES, bytesMax: () => BODY_BYTES_MAX },
      params: z.object({ token: PathText }),
      returns: z.object({ accepted: z.literal(true) }).meta({ id: "AcceptedGitWebhook" }),
      status: 202,
      failures: {
        401: "The signature is missing or not valid",
        404: "The webhook does not exist",
        413: "The body is larger than 2 MiB",
        429: `Limit of ${HOOKS_PER_MINUTE} requests per minute and address exceeded; see ` +
          "`Retry-After`",
      },
    }, async ({ params, request, caller: { address } }) => {
      const { headers } = request;
      const repository = findHook(deps, params.token, { headers, address });
      const upload = readUpload(request, { bytesMax: BODY_BYTES_MAX, assertAllowed: skipCheck });
      receiveHook(deps, repository, { headers, address, body: await readAll(upload) });
      return { accepted: true as const };
    }),
  ];
};

/** A second check of the access, which no caller loses here, would count each request twice. */
const skipCheck = () => Promise.resolve();

async function readAll(pieces: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const read = new GrowingBytes();
  for await (const piece of pieces) read.append(piece);
  return read.bytes();
}
