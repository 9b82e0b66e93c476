/** Reports to a forge what became of a commit, through the outbox. @module */

import { type GitRepository, selectGitRepository } from "../../../db/git_repositories.ts";
import type { Deps } from "../../deps.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import type { OutboxChannel } from "../../events/outbox_channel.ts";
import { failedOutcome, outcomeOfResponse } from "../../events/outbox_outcome.ts";
import { linkTo } from "../../events/message.ts";
import { truncate } from "../../events/text.ts";
import { outboundRequest } from "../../outbound/http.ts";
import { openIfPossible } from "../../secrets/secrets.ts";
import { reachOf } from "../address.ts";
import { readSecrets } from "../credentials.ts";
import { type CommitStatus, statusRequest } from "./request.ts";

const CHANNEL = "git_status";

const TIMEOUT_MS = 10_000;

/** Limit of GitHub, in UTF-16 code units. */
const DESCRIPTION_MAX = 140;

/** The token, the address or the commit is refused, which another attempt does not change. */
const FINAL = new Set([400, 401, 404, 405, 422]);

type ReportDeps = Pick<Deps, "config" | "db" | "now" | "outbox" | "secrets">;

/**
 * Queues the status of a commit, if the repository wants it. Must be called in the transaction of its
 * cause.
 */
export function reportStatus(
  deps: ReportDeps,
  repository: GitRepository | undefined,
  { stack, commit, state, description, job }:
    & Pick<CommitStatus, "commit" | "state" | "description">
    & { stack: string; job?: string },
): void {
  if (!repository || !openIfPossible(() => readSecrets(deps, repository))?.status) return;
  const [line = ""] = description.split("\n", 1);
  const status: CommitStatus = {
    commit,
    state,
    context: `Longshore / ${deps.config.serverName} / ${stack}`,
    description: truncate(line, DESCRIPTION_MAX),
    link: linkTo(
      deps.config,
      `/stacks/${encodeURIComponent(stack)}${job === undefined ? "" : `?job=${job}`}`,
    ),
  };
  enqueueMessage(deps, {
    channel: CHANNEL,
    targetId: repository.id,
    eventKind: `git.status.${state}`,
    payload: JSON.stringify(status),
  });
}

export const gitStatusChannel: OutboxChannel = {
  name: CHANNEL,
  edition: "ce",
  isOrdered: true,
  async send(deps, { targetId, payload }, signal) {
    const repository = selectGitRepository(deps.db, targetId);
    if (!repository) return failedOutcome("The repository was deleted");
    const { status: settings } = readSecrets(deps, repository);
    if (!settings) return failedOutcome("The repository does not report any more");
    const { url, ...request } = statusRequest(settings, repository.url, JSON.parse(payload));
    const response = await outboundRequest(deps, {
      ...request,
      url,
      method: "POST",
      reach: reachOf(new URL(url)),
      caCertificates: repository.caCertificate ?? undefined,
      timeoutMs: TIMEOUT_MS,
      bodyMax: 0,
      bodyOver: "cut",
      signal,
    });
    const outcome = outcomeOfResponse(response, deps.now(), { final: FINAL });
    if (outcome.result === "failed") {
      deps.log.warn("git status refused", { repositoryId: targetId, status: response.status });
    }
    return outcome;
  },
};
