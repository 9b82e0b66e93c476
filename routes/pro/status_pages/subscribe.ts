/**
 * /status/:slug/subscribe: the form by which visitors of a status page subscribe by email. It works
 * without a script, and its answer is the same for known and unknown addresses.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { AppError, notFound } from "../../../services/errors.ts";
import { type PublicPage, publicPage } from "../../../services/pro/status_pages/public.ts";
import {
  hasSubscribeForm,
  requestSubscription,
} from "../../../services/pro/status_pages/subscriptions.ts";
import { MAIL_ADDRESS_MAX } from "../../../services/pro/status_pages/subscriber_address.ts";
import { baseUrl } from "../../base_url.ts";
import { rawEndpoint } from "../../endpoint.ts";
import { rateLimit } from "../../rate_limit.ts";
import { ErrorBody } from "../../shapes.ts";
import { linkPage } from "./link_page.ts";

/** Posted forms per minute: of one client address, and in all. Each can send a mail. */
const OF_CLIENT = 3;
const OF_ALL = 30;

const TITLE = "Subscribe to updates";
const TEXT = "Get an email when an incident or planned maintenance is published or updated, or " +
  "when a component changes its status. We send a link to confirm first, and each email has a " +
  "link to unsubscribe.";

const SENT =
  "If this address is not subscribed yet, an email with a link to confirm is on its way.";

export const subscribeEndpoints = (deps: Deps) => {
  const clients = rateLimit(OF_CLIENT, deps.now);
  const all = rateLimit(OF_ALL, deps.now);
  const contract = {
    path: "/status/:slug/subscribe",
    role: "public",
    anyAddress: true,
    hiddenUnlicensed: true,
    params: z.object({ slug: z.string().min(1).max(100) }),
    returns: z.string(),
    produces: "text/html",
    ignoresUnknown: true,
  } as const;
  const failures = { 404: "There is no such page, it is not public, or SMTP_URL is not set" };

  return [
    rawEndpoint({
      ...contract,
      method: "get",
      operationId: "getSubscribeForm",
      summary: "Show the subscribe form",
      failures,
    }, ({ params }) => {
      const page = existingPage(deps, params.slug);
      return linkPage(
        { page, title: TITLE, text: TEXT, button: "Subscribe", email: { value: "" } },
        { look: deps.brand.look },
      );
    }),

    rawEndpoint({
      ...contract,
      method: "post",
      operationId: "submitSubscribeForm",
      summary: "Subscribe by email",
      description: "The form of a status page. The address gets a link to confirm, at most once " +
        "a day; the answer does not show whether it is subscribed. Cross-site forms are refused.",
      unaudited: true,
      form: z.object({ email: z.string().max(MAIL_ADDRESS_MAX).default("") }).meta({
        id: "SubscribeForm",
        example: { email: "ada@example.com" },
      }),
      replies: {
        400: {
          description: "The address is not valid; the form says so",
          returns: ErrorBody,
          alternatives: { "text/html": z.string() },
        },
      },
      failures: {
        ...failures,
        403: "The form was sent by another site",
        429: `More than ${OF_CLIENT} requests in a minute from one address, or ${OF_ALL} in all`,
      },
    }, async ({ params, body, request, caller }) => {
      const page = existingPage(deps, params.slug);
      const { look } = deps.brand;
      assertSameSite(request);
      clients.check(caller.address);
      all.check("0.0.0.0");
      const email = body.email.trim();
      try {
        await requestSubscription(deps, params.slug, email, baseUrl(deps.config, request));
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "invalid") throw error;
        const problem = error.message.replace("email: must", "This must");
        return linkPage({
          page,
          title: TITLE,
          text: TEXT,
          button: "Subscribe",
          email: { value: email, problem },
        }, { look, status: 400 });
      }
      return linkPage({ page, title: "Check your inbox", text: SENT }, { look });
    }),
  ];
};

/** @throws {AppError} `not_found` */
function existingPage(
  deps: Deps,
  slug: string,
): Pick<PublicPage, "name" | "theme"> & { url: string } {
  const page = publicPage(deps, slug);
  if (!page || !hasSubscribeForm(deps.config)) throw notFound("Status page form", slug);
  return { name: page.name, theme: page.theme, url: `/status/${page.slug}` };
}

/**
 * Refuses a form that another site's page sends, which would subscribe from its visitors'
 * addresses. Clients that are not browsers send neither header.
 *
 * @throws {AppError} `forbidden`
 */
function assertSameSite({ url, headers }: Request): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const host = headers.get("host") ?? new URL(url).host;
  const isOwn = site !== null
    ? site === "same-origin" || site === "none"
    : origin === null || URL.parse(origin)?.host === host;
  if (!isOwn) throw new AppError("forbidden", "This form was sent by another site");
}
