/**
 * /status/:slug: the public page, its feed and its badge, each rendered once until the page or the
 * branding changes.
 *
 * @module
 */

import * as z from "zod";
import type { Branding } from "../../../services/access/brand_cache.ts";
import type { Deps } from "../../../services/deps.ts";
import { notFound } from "../../../services/errors.ts";
import { type PublicPage, publicPage } from "../../../services/pro/status_pages/public.ts";
import { hasSubscribeForm } from "../../../services/pro/status_pages/subscriptions.ts";
import { prefersHtml } from "../../pipeline/accept.ts";
import { hashSource } from "../../html/content_security_policy.ts";
import { rawEndpoint } from "../../contract/endpoint.ts";
import {
  createRepresentation,
  type Representation,
  sendRepresentation,
} from "../../pipeline/representation.ts";
import { baseUrl } from "../../pipeline/request_url.ts";
import { ErrorBody } from "../../contract/shapes.ts";
import { linkPage } from "./link_page.ts";
import { statusPageBadge } from "./badge.ts";
import { customStyle, logoSources } from "./brand.ts";
import { statusPageFeed } from "./feed.ts";
import { subscribeEndpoints } from "./subscribe.ts";
import { LOCAL_TIMES } from "./time.ts";
import { statusPageStyle, statusPageView } from "./view.ts";

/** Renderers by the path below the slug. */
const PARTS = {
  "": renderPage,
  "/feed.atom": renderFeed,
  "/badge.svg": renderBadge,
} as const;
type Part = keyof typeof PARTS;

const UNKNOWN_PAGE = {
  page: undefined,
  title: "This status page does not exist",
  text: "Check the address, or ask the operator of the service.",
};

/** Short enough during an outage, long enough for caches to help. */
const CACHING = "public, max-age=15";

/** Zlib's default: a page changes seldom and has many readers. */
const GZIP_LEVEL = 6;

const Params = z.object({ slug: z.string().min(1).max(100) });

/** Input of a renderer besides the page. */
interface RenderOptions {
  config: Deps["config"];
  /** The service's own address, e.g. `https://ops.example.com`. */
  base: string;
  branding: Branding | undefined;
}

/** Rendered parts of a page by path and base address. */
interface RenderedParts {
  branding: Branding | undefined;
  parts: Map<string, Representation>;
}

/** Limit of rendered parts per page: the feed depends on the `Host` header, which clients choose. */
const PARTS_MAX = 20;

export const statusPageHtmlEndpoints = (deps: Deps) => {
  const cache = new WeakMap<PublicPage, RenderedParts>();
  const serve =
    (part: Part) => ({ params, request }: { params: { slug: string }; request: Request }) => {
      const page = publicPage(deps, params.slug);
      const { current: branding } = deps.brand;
      if (!page) {
        if (part !== "" || !prefersHtml(request)) throw notFound("Status page", params.slug);
        return linkPage(UNKNOWN_PAGE, { branding, status: 404 });
      }
      let rendered = cache.get(page);
      if (!rendered || rendered.branding !== branding) {
        cache.set(page, rendered = { branding, parts: new Map() });
      }
      const { parts } = rendered;
      const base = baseUrl(deps.config, request);
      const key = part === "/feed.atom" ? `${part} ${base}` : part;
      let representation = parts.get(key);
      if (!representation) {
        if (parts.size >= PARTS_MAX) parts.clear();
        representation = PARTS[part](page, { config: deps.config, base, branding });
        parts.set(key, representation);
      }
      return sendRepresentation(representation, request);
    };
  const contract = {
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
    rawEndpoint("GET /status/:slug", {
      ...contract,
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

    rawEndpoint("GET /status/:slug/feed.atom", {
      ...contract,
      operationId: "getStatusPageFeed",
      summary: "Get a status page's Atom feed",
      produces: "application/atom+xml",
    }, serve("/feed.atom")),

    rawEndpoint("GET /status/:slug/badge.svg", {
      ...contract,
      operationId: "getStatusPageBadge",
      summary: "Get a status page's badge",
      produces: "image/svg+xml",
    }, serve("/badge.svg")),

    ...subscribeEndpoints(deps),
  ];
};

function renderPage(page: PublicPage, { config, branding }: RenderOptions): Representation {
  const style = statusPageStyle(page, branding);
  const custom = customStyle(branding);
  const policy = [
    "default-src 'none'",
    `style-src ${hashSource(style)}${custom === undefined ? "" : ` ${hashSource(custom)}`}`,
    `script-src ${hashSource(LOCAL_TIMES)}`,
    `img-src ${["data:", ...logoSources(branding)].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const path = `${config.serviceBaseUrl ?? ""}/status/${page.slug}`;
  const subscribeUrl = hasSubscribeForm(config) ? `${path}/subscribe` : null;
  const text = statusPageView(page, {
    feedUrl: `${path}/feed.atom`,
    subscribeUrl,
    style,
    branding,
  });
  return represent(text, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
  });
}

function renderFeed(page: PublicPage, { base }: RenderOptions): Representation {
  const url = `${base}/status/${page.slug}`;
  return represent(statusPageFeed(page, { page: url, feed: `${url}/feed.atom` }), {
    "content-type": "application/atom+xml; charset=utf-8",
  });
}

function renderBadge(page: PublicPage): Representation {
  return represent(statusPageBadge(page), {
    "content-type": "image/svg+xml; charset=utf-8",
    // Other sites embed it.
    "cross-origin-resource-policy": "cross-origin",
  });
}

const represent = (text: string, headers: Record<string, string>) =>
  createRepresentation(text, { ...headers, "cache-control": CACHING }, GZIP_LEVEL);
