/**
 * The dashboard: one HTML page for all of its addresses, and the files that it loads. The page draws
 * itself in the browser with the API.
 *
 * @module
 */

import { offersOidc } from "../../services/access/oidc/provider.ts";
import type { Deps } from "../../services/deps.ts";
import { isSetupRequired } from "../../services/access/sign_in/mode.ts";
import { nodeZlib } from "../../services/builtins.ts";
import { escapeMarkup } from "../../services/text/escape_markup.ts";
import { isTerminal, matchPath } from "../../ui/paths.ts";
import type { Branding } from "../../services/access/brand_cache.ts";
import { acceptsEncoding } from "../pipeline/accept.ts";
import { isColor, readableAs, readableOn, visibleAs } from "../html/colors.ts";
import type { RawResponse } from "../contract/endpoint.ts";
import { offersPasskeys } from "../../services/access/factors/offered.ts";
import { baseUrl, pathOf } from "../pipeline/request_url.ts";
import { openPack, type Pack } from "./pack.ts";

/**
 * Nothing inline or evaluated, no other origin, and no HTML from strings.
 *
 * @param nonce Allows style elements, which the library of the terminal creates.
 */
const pageCsp = (nonce: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === undefined ? "" : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
  ].join("; ");

const FILES = "/assets/";

/** The API documentation, which `UI=off` leaves on. */
const API_PAGE = "/docs";

/** File names contain a hash of the content, so they can be cached for a year. */
const FILE_CACHING = "public, max-age=31536000, immutable";

type DashboardDeps = Pick<
  Deps,
  "accounts" | "brand" | "config" | "db" | "fleet" | "log" | "signInProviders"
>;

/**
 * Answers `GET` and `HEAD`; `undefined` for what is not a part of the dashboard. A person who opens
 * an unknown address gets the page as well, with the status 404.
 */
export async function respondDashboard(
  deps: DashboardDeps,
  request: Request,
): Promise<RawResponse | undefined> {
  if (!/^(GET|HEAD)$/.test(request.method)) return undefined;
  const path = pathOf(request);
  const isOff = deps.config.ui === "off";
  const file = path.startsWith(FILES) ? path.slice(FILES.length) : undefined;
  const page = matchPath(path)?.path;
  const isKnown = file !== undefined || (isOff ? page === API_PAGE : page !== undefined);
  const acceptsPage = request.headers.get("accept")?.includes("text/html");
  if (!isKnown && (isOff || !acceptsPage)) return undefined;
  using pack = await openPack();
  if (!pack) {
    deps.log.warn("dashboard not built", { build: "deno task ui" });
    return undefined;
  }
  if (file !== undefined && isOff && !pack.apiPage.includes(file)) return undefined;
  return file === undefined
    ? { ...respondPage(deps, pack, request), status: isKnown ? 200 : 404 }
    : await sendFile(pack, file, request);
}

function respondPage(
  { accounts, brand, config, db, fleet, signInProviders }: DashboardDeps,
  pack: Pack,
  request: Request,
): RawResponse {
  const nonce = isTerminal(matchPath(pathOf(request)))
    ? crypto.getRandomValues(new Uint8Array(16)).toBase64()
    : undefined;
  const values: Record<string, string> = {
    root: rootOf(request, config.serviceBaseUrl),
    nonce: nonce ?? "",
    ui: config.ui,
    auth: isSetupRequired(db, config) ? "setup" : accounts.mode,
    sso: offersOidc({ accounts, config, db }) || signInProviders.list().length > 0 ? "on" : "",
    passwords: config.passwordLogin,
    passkeys: offersPasskeys({ accounts, config, db }, baseUrl(config, request)) ? "on" : "",
    brand: escapeMarkup(brand.current?.app_name ?? ""),
    colors: brandColors(brand.current),
    fleet: fleet.isHub ? "on" : "",
  };
  const html = pack.page.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]!);
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": pageCsp(nonce),
    vary: "accept-encoding",
  };
  const body = new TextEncoder().encode(html);
  return acceptsEncoding(request, "gzip")
    ? {
      status: 200,
      headers: { ...headers, "content-encoding": "gzip" },
      body: new Uint8Array(nodeZlib().gzipSync(body)),
    }
    : { status: 200, headers, body };
}

/** The background with the least contrast, `--active`, in light and in dark mode. */
const BACKGROUNDS = ["#e6edfb", "#1d2b45"];

/** Values of `--accent`, `--accent-fill` and `--on-accent`; empty for the product's own. */
function brandColors(brand: Branding | undefined): string {
  const color = brand?.primary_color;
  if (!isColor(color)) return "";
  const accent = isColor(brand?.accent_color) ? brand.accent_color : color;
  const texts = BACKGROUNDS.map((each) => readableAs(accent, each));
  const areas = BACKGROUNDS.map((each) => visibleAs(color, each));
  return [texts, areas, areas.map(readableOn)].map((pair) => `light-dark(${pair})`).join(" ");
}

/**
 * The service's root as the page addresses it: relative, so that it works behind a proxy that serves
 * it below a path. `SERVICE_BASE_URL` gives it as a path, because a relative one fails at an address
 * that lacks the last slash (`https://example.com/longshore`).
 */
function rootOf(request: Request, base: string | null): string {
  const given = base === null ? undefined : new URL(base);
  if (given && given.pathname !== "/" && request.headers.get("host") === given.host) {
    return given.pathname.replace(/\/?$/, "/");
  }
  return "../".repeat(pathOf(request).split("/").length - 2) || "./";
}

async function sendFile(
  pack: Pack,
  name: string,
  request: Request,
): Promise<RawResponse | undefined> {
  const file = Object.hasOwn(pack.files, name) ? pack.files[name] : undefined;
  if (!file) return undefined;
  const encoding = (["br", "gzip"] as const).find((each) => acceptsEncoding(request, each));
  const headers = {
    "cache-control": FILE_CACHING,
    "content-type": file.type,
    vary: "accept-encoding",
  };
  if (encoding) {
    const body = await pack.read(file[encoding]);
    return { status: 200, headers: { ...headers, "content-encoding": encoding }, body };
  }
  const body = new Uint8Array(nodeZlib().gunzipSync(await pack.read(file.gzip)));
  return { status: 200, headers, body };
}
