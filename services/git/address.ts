/** Addresses of repositories. @module */

import { AppError } from "../errors.ts";
import type { OutboundReach } from "../outbound/address.ts";
import { assertOutboundUrl, type OutboundDeps, parseOutboundUrl } from "../outbound/url.ts";
import { trimEnd } from "../text/trim_end.ts";

const SSH = /^(?:ssh:\/\/)?(?:[^@/\s]+@)?([a-z0-9.-]+)(?::\d+\/|[:/])\/?([^\s]+)$/i;

/** Whether a text is an address for SSH: `ssh://…`, or the short form `git@host:path`. */
const isSsh = (text: string) => /^ssh:/i.test(text) || /^[^/@:]+@[^/@:]+:/.test(text);

/**
 * Checks the address of a repository, and returns its one spelling.
 *
 * @throws {AppError} `invalid`: for SSH with the https address, for credentials in it, for plain HTTP
 * to a server that is not private, and for hosts that the service may not reach.
 */
export async function checkRepositoryUrl(
  deps: OutboundDeps,
  text: string,
  field: string,
): Promise<string> {
  if (isSsh(text)) throw new AppError("invalid", `${field}: ${sshText(text)}`);
  const parsed = parseOutboundUrl(text);
  if (typeof parsed === "string") throw new AppError("invalid", `${field}: ${parsed}`);
  if (parsed.search !== "" || parsed.hash !== "") {
    throw new AppError("invalid", `${field}: must have neither a query nor a fragment`);
  }
  await assertOutboundUrl(deps, text, reachOf(parsed), field);
  return trimEnd(parsed.href, "/");
}

/** Credentials must not cross the internet in clear. */
export const reachOf = ({ protocol }: Pick<URL, "protocol">): OutboundReach =>
  protocol === "https:" ? "internal" : "intranet";

function sshText(text: string): string {
  const [, host, path] = SSH.exec(text) ?? [];
  const instead = host === undefined ? "the https address" : `https://${host}/${path}`;
  return `SSH needs a program, which this service may not start; use ${instead}`;
}
