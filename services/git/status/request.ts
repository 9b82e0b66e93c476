/** Requests that set the status of a commit, as each forge documents them. @module */

import type { StatusSettings } from "./settings.ts";

/** Outcome of a commit for one stack. */
export interface CommitStatus {
  /** Id of the commit. */
  commit: string;
  state: "pending" | "success" | "failure";
  /** Tells statuses of one commit apart, e.g. `Longshore / host-1 / shop`. */
  context: string;
  description: string;
  /** Page about it; `null` without `SERVICE_BASE_URL`. */
  link: string | null;
}

export interface StatusRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

const HEADERS = { "content-type": "application/json", "user-agent": "longshore" };

/** @param repositoryUrl Its path names the repository at the forge. */
export const statusRequest = (
  settings: StatusSettings,
  repositoryUrl: string,
  status: CommitStatus,
): StatusRequest => REQUESTS[settings.kind](settings, new URL(repositoryUrl).pathname, status);

const REQUESTS: Record<
  StatusSettings["kind"],
  (settings: StatusSettings, path: string, status: CommitStatus) => StatusRequest
> = {
  github: ({ apiUrl, token }, path, status) => ({
    url: `${apiUrl}/repos/${ownerAndName(path)}/statuses/${status.commit}`,
    headers: {
      ...HEADERS,
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "x-github-api-version": "2022-11-28",
    },
    body: bodyOf(status),
  }),
  gitea: ({ apiUrl, token }, path, status) => ({
    url: `${apiUrl}/repos/${ownerAndName(path)}/statuses/${status.commit}`,
    headers: { ...HEADERS, authorization: `token ${token}` },
    body: bodyOf(status),
  }),
  gitlab: ({ apiUrl, token }, path, status) => {
    // A server below a path has it in both addresses.
    const root = new URL(apiUrl).pathname.replace(/\/api\/v4$/, "/");
    const project = trimmed(path.startsWith(root) ? path.slice(root.length) : path);
    return {
      url: `${apiUrl}/projects/${encodeURIComponent(decoded(project))}/statuses/${status.commit}`,
      headers: { ...HEADERS, "private-token": token },
      body: bodyOf({ ...status, state: status.state === "failure" ? "failed" : status.state }),
    };
  },
};

/** The path as it is if it has escapes of something else than UTF-8. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const bodyOf = (
  { state, context, description, link }: Omit<CommitStatus, "state"> & { state: string },
) => JSON.stringify({ state, context, description, ...(link !== null && { target_url: link }) });

const ownerAndName = (path: string) => trimmed(path).split("/").slice(-2).join("/");

const trimmed = (path: string) => path.replace(/^\//, "").replace(/\.git$/, "");
