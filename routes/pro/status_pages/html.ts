/**
 * /status/:slug: the public page, its feed and its badge. Each is rendered once from the page in
 * memory and sent again until something of the page changes.
 *
 * @module
 */

import * as z from "zod";
import type { Branding } from "../../../services/state/brand_cache.ts";
import { nodeCrypto, nodeZlib } from "../../../services/builtins.ts";
import type { Deps } from "../../../services/deps.ts";
import { includesEdition } from "../../../services/license/edition.ts";
import { notFound } from "../../../services/errors.ts";
import {
  pageByDomain,
  type PublicPage,
  publicPage,
} from "../../../services/pro/status_pages/public.ts";
import { hasSubscribeForm } from "../../../services/pro/status_pages/subscriptions.ts";
import { prefersHtml } from "../../accept.ts";
import { acceptsGzip, etagOf } from "../../answer_cache.ts";
import { baseUrl } from "../../base_url.ts";
import { type RawAnswer, rawEndpoint } from "../../endpoint.ts";
import { ErrorBody } from "../../shapes.ts";
import { linkPage } from "./link_page.ts";
import { statusPageBadge } from "./badge.ts";
import { customStyle, logoSources } from "./brand.ts";
import { statusPageFeed } from "./feed.ts";
import { subscribeEndpoints } from "./subscribe.ts";
import { LOCAL_TIMES } from "./time.ts";
import { statusPageStyle, statusPageView } from "./view.ts";

/** What there is of a page, by what follows its slug in the address. */
const PARTS = {
  "": pagePart,
  "/feed.atom": feedPart,
  "/badge.svg": badgePart,
} as const;
type Part = keyof typeof PARTS;

const UNKNOWN_PAGE = {
  page: undefined,
  title: "This status page does not exist",
  text: "Check the address, or ask the operator of the service for it.",
};

/** Short enough for who waits for the end of an outage, long enough for caches to help. */
const CACHING = "public, max-age=15";

const Params = z.object({ slug: z.string().min(1).max(100) });

/** A part as it is sent. */
interface Kept {
  headers: Record<string, string>;
  bytes: Uint8Array<ArrayBuffer>;
  /** Made when the first client asks for it. */
  gzip: Uint8Array<ArrayBuffer> | undefined;
}

/** What a part is made with. */
interface Setting {
  config: Deps["config"];
  /** The service's own address, e.g. `https://ops.example.com`. */
  base: string;
  look: Branding | undefined;
}

/** Rendered parts by name and base address, while the page in memory and the look stay the same. */
type Shelf = WeakMap<PublicPage, { look: Branding | undefined; parts: Map<string, Kept> }>;

/** Rendered parts of one page: clients choose the `Host` header, which is part of the feed. */
const PARTS_MAX = 20;

const encoder = new TextEncoder();

export const statusPageHtmlEndpoints = (deps: Deps) => {
  const shelf: Shelf = new WeakMap();
  const serve =
    (part: Part) => ({ params, request }: { params: { slug: string }; request: Request }) => {
      const page = publicPage(deps, params.slug);
      const { look } = deps.brand;
      if (!page) {
        if (part !== "" || !prefersHtml(request)) throw notFound("Status page", params.slug);
        return linkPage(UNKNOWN_PAGE, { look, status: 404 });
      }
      let kept = shelf.get(page);
      if (!kept || kept.look !== look) shelf.set(page, kept = { look, parts: new Map() });
      const base = baseUrl(deps.config, request);
      const key = part === "/feed.atom" ? `${part} ${base}` : part;
      let sent = kept.parts.get(key);
      if (!sent) {
        if (kept.parts.size >= PARTS_MAX) kept.parts.clear();
        kept.parts.set(key, sent = PARTS[part](page, { config: deps.config, base, look }));
      }
      return answer(request, sent);
    };
  const contract = {
    method: "get",
    role: "public",
    anyAddress: true,
    ignoresUnknown: true,
    hiddenUnlicensed: true,
    params: Params,
    returns: z.string(),
    etag: true,
    failures: { 404: "The page does not exist, or it is not public" },
  } as const;

  return [
    rawEndpoint({
      ...contract,
      path: "/status/:slug",
      operationId: "getStatusPageHtml",
      summary: "Get a status page as HTML",
      description:
        "Also served at `/` of the page's own domain, next to `/feed.atom` and `/badge.svg`.",
      produces: "text/html",
      failures: {},
      replies: {
        404: {
          description: UNKNOWN_PAGE.title,
          returns: ErrorBody,
          alternatives: { "text/html": z.string() },
        },
      },
    }, serve("")),

    rawEndpoint({
      ...contract,
      path: "/status/:slug/feed.atom",
      operationId: "getStatusPageFeed",
      summary: "Get a status page's Atom feed",
      produces: "application/atom+xml",
    }, serve("/feed.atom")),

    rawEndpoint({
      ...contract,
      path: "/status/:slug/badge.svg",
      operationId: "getStatusPageBadge",
      summary: "Get a status page's badge",
      produces: "image/svg+xml",
    }, serve("/badge.svg")),

    ...subscribeEndpoints(deps),
  ];
};

/**
 * Makes what tells where a request for a page's own domain leads: a path of this module, or
 * `undefined` for every other request, of which it looks at no more than the path.
 */
export function statusPageOfHost(deps: Deps): (request: Request) => string | undefined {
  return ({ url, headers }) => {
    const path = url.slice(url.indexOf("/", "https://".length)).split("?", 1)[0];
    if (path !== "/" && path !== "/feed.atom" && path !== "/badge.svg") return undefined;
    if (!includesEdition(deps.license.edition, "pro")) return undefined;
    const page = pageByDomain(deps, headers.get("host") ?? new URL(url).host);
    return page && `/status/${page.slug}${path === "/" ? "" : path}`;
  };
}

function pagePart(page: PublicPage, { config, look }: Setting): Kept {
  const style = statusPageStyle(page, look);
  const custom = customStyle(look);
  const policy = [
    "default-src 'none'",
    `style-src ${sourceOf(style)}${custom === undefined ? "" : ` ${sourceOf(custom)}`}`,
    `script-src ${sourceOf(LOCAL_TIMES)}`,
    `img-src ${["data:", ...logoSources(look)].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const path = `${config.serviceBaseUrl ?? ""}/status/${page.slug}`;
  const subscribeUrl = hasSubscribeForm(config) ? `${path}/subscribe` : null;
  const text = statusPageView(page, { feedUrl: `${path}/feed.atom`, subscribeUrl, style, look });
  return kept(text, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
  });
}

/** Names a style sheet or script for the policy. */
function sourceOf(text: string): string {
  return `'sha256-${nodeCrypto().createHash("sha256").update(text).digest("base64")}'`;
}

function feedPart(page: PublicPage, { base }: Setting): Kept {
  const url = `${base}/status/${page.slug}`;
  return kept(statusPageFeed(page, { page: url, feed: `${url}/feed.atom` }), {
    "content-type": "application/atom+xml; charset=utf-8",
  });
}

function badgePart(page: PublicPage): Kept {
  return kept(statusPageBadge(page), {
    "content-type": "image/svg+xml; charset=utf-8",
    // It is there to be shown on other sites.
    "cross-origin-resource-policy": "cross-origin",
  });
}

function kept(text: string, headers: Record<string, string>): Kept {
  const bytes = encoder.encode(text);
  return {
    headers: {
      ...headers,
      "cache-control": CACHING,
      etag: etagOf(bytes),
      vary: "accept-encoding",
    },
    bytes,
    gzip: undefined,
  };
}

function answer(request: Request, part: Kept): RawAnswer {
  const { headers, bytes } = part;
  // A weak tag is compared without its mark (RFC 9110, 13.1.2).
  if (request.headers.get("if-none-match")?.includes(headers.etag!.slice(2))) {
    return { status: 304, headers, body: null };
  }
  if (!acceptsGzip(request)) return { status: 200, headers, body: bytes };
  part.gzip ??= new Uint8Array(nodeZlib().gzipSync(bytes));
  return { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body: part.gzip };
}
