/** Reads the tags of repositories, page by page, as far as limits allow. @module */

import type { ImageReference } from "../../../engine/image_reference.ts";
import { createYield, yieldToEventLoop } from "../../waiting.ts";
import type { OutboundResponse } from "../../outbound/http.ts";
import { accessFor, type RegistryAccessDeps } from "./access.ts";
import { invalidAnswer, parseContent } from "./answers.ts";
import { RegistryError } from "./error.ts";
import { type RegistryRequest, registryRequest, type RequestDeps } from "./requests.ts";

/** Tags per page, and limit of pages: some repositories have a tag for each build. */
const PAGE_SIZE = 1_000;
const PAGES_MAX = 200;

/** Limit of tags in all pages. Registries may send larger pages than they are asked for. */
const TAGS_MAX = 200_000;

/** Largest page, in bytes. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Limit of all pages, in MiB. The page that exceeds it is still used. */
const LIST_MIB_MAX = 32;

/** Time after which no further page is read, in minutes. */
const LIST_MINUTES_MAX = 3;

const TAG = /^\w[\w.-]{0,127}$/;

/**
 * Reads the tags of a repository: at most 200 pages, 200,000 tags, 32 MiB and three minutes. If a
 * later page cannot be read, the tags are those of the earlier ones.
 *
 * @param take Gets the tags one by one, in the registry's order; a registry may repeat some.
 * @returns Why there may be more tags; `undefined` if these are all.
 * @throws {RegistryError} Also if only the engine can reach the registry.
 */
export async function readTags(
  deps: RegistryAccessDeps & RequestDeps,
  { registry, repository }: Pick<ImageReference, "registry" | "repository">,
  take: (tag: string) => void,
  options: Pick<RegistryRequest, "signal" | "timeoutMs"> = {},
): Promise<string | undefined> {
  const access = accessFor(deps, { registry, repository });
  const pause = createYield(options.signal);
  const visited = new Set<string>();
  const used = { startedAt: deps.now().getTime(), pages: 0, tags: 0, bytes: 0 };
  for (let search: string | undefined = `?n=${PAGE_SIZE}`; search !== undefined;) {
    const limit = exceededLimit(used, deps.now());
    if (limit !== undefined) return limit;
    visited.add(search);
    used.pages++;
    try {
      const response = await registryRequest(deps, registry, access, {
        method: "GET",
        path: `/v2/${repository}/tags/list`,
        search,
        repository,
        bodyMax: PAGE_BYTES_MAX,
        ...options,
      });
      used.bytes += response.body.length;
      await deps.registrySessions.alone(async () => {
        await yieldToEventLoop();
        for (const tag of tagsOf(response, registry)) {
          await pause();
          if (++used.tags > TAGS_MAX) break;
          if (typeof tag === "string" && TAG.test(tag)) take(tag);
        }
      });
      if (used.tags > TAGS_MAX) return `more than ${TAGS_MAX} tags`;
      search = nextPage(response, repository);
    } catch (error) {
      if (used.pages === 1 || !(error instanceof RegistryError)) throw error;
      return `page ${used.pages} could not be read`;
    }
    if (search !== undefined && (search === "" || visited.has(search))) {
      return `page ${used.pages} leads to no further page`;
    }
  }
  return undefined;
}

function exceededLimit(
  { startedAt, pages, bytes }: { startedAt: number; pages: number; bytes: number },
  now: Date,
): string | undefined {
  if (pages === PAGES_MAX) return `more than ${PAGES_MAX} pages`;
  if (bytes > LIST_MIB_MAX * 1024 * 1024) return `more than ${LIST_MIB_MAX} MiB`;
  return now.getTime() - startedAt >= LIST_MINUTES_MAX * 60_000
    ? `more than ${LIST_MINUTES_MAX} minutes to read it`
    : undefined;
}

function tagsOf(response: OutboundResponse, registry: string): unknown[] {
  const tags = parseContent(response, registry).tags ?? [];
  if (!Array.isArray(tags)) throw invalidAnswer(registry, "a list of tags");
  return tags;
}

/** One link of the header `Link` (RFC 8288) with its parameters. */
const LINK = /<([^<>]*)>((?:[^<>",]|"[^"]*")*)/g;

/** Whether a parameter of a link says that it leads to the next page, e.g. `rel="next"`. */
function isNext(parameter: string): boolean {
  const [name = "", value = ""] = parameter.split("=").map((part) => part.trim().toLowerCase());
  return name === "rel" && value.replaceAll('"', "").split(" ").includes("next");
}

/**
 * Returns the query of the next page. Registries behind proxies give links with another host or
 * path, so that only the query counts; a link to another repository is not followed.
 *
 * @returns `undefined` after the last page; empty for a link that cannot be followed.
 */
function nextPage({ headers, url }: OutboundResponse, repository: string): string | undefined {
  for (const [, target = "", params = ""] of (headers.link ?? "").matchAll(LINK)) {
    if (!params.split(";").some(isNext)) continue;
    const next = URL.parse(target, url);
    const isSame = next?.pathname === new URL(url).pathname ||
      next?.pathname.endsWith(`/${repository}/tags/list`);
    return next && isSame ? next.search : "";
  }
  return undefined;
}
