/**
 * /status/:slug/subscribe: the form to subscribe to a status page by email. It needs no script, and
 * its response is the same for known and unknown addresses.
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
import { MAIL_ADDRESS_MAX } from "../../../services/outbound/mail_address.ts";
import { baseUrl } from "../../pipeline/request_url.ts";
import { rawEndpoint } from "../../contract/endpoint.ts";
import { rateLimit } from "../../pipeline/rate_limit.ts";
import { ErrorBody } from "../../contract/shapes.ts";
import { linkPage } from "./link_page.ts";

/** Limits of submitted forms per minute, because each can send a mail. */
const CLIENT_PER_MINUTE = 3;
const TOTAL_PER_MINUTE = 30;

const TITLE = "Subscribe to updates";
const TEXT = "Get an email when an incident or planned maintenance is published or updated, or " +
  "when a component changes status. You first receive a link to confirm, and each email has a " +
  "link to unsubscribe.";

const SENT =
  "If this address is not subscribed yet, an email with a link to confirm is on its way.";

export const subscribeEndpoints = (deps: Deps) => {
  const clientLimit = rateLimit(CLIENT_PER_MINUTE, deps.now);
  const totalLimit = rateLimit(TOTAL_PER_MINUTE, deps.now);
  const contract = {
    role: "public",
    anyAddress: true,
    hiddenUnlicensed: true,
    params: z.object({ slug: z.string().min(1).max(100) }),
    returns: z.string(),
    produces: "text/html",
    ignoresUnknown: true,
  } as const;
  const failures = { 404: "The page does not exist or is not public, or SMTP_URL is not set" };

  return [
    rawEndpoint("GET /status/:slug/subscribe", {
      ...contract,
      operationId: "getSubscribeForm",
      summary: "Get the subscribe form",
      failures,
    }, ({ params }) => {
      const page = existingPage(deps, params.slug);
      return linkPage(
        { page, title: TITLE, text: TEXT, button: "Subscribe", email: { value: "" } },
        { branding: deps.brand.current },
      );
    }),

    rawEndpoint("POST /status/:slug/subscribe", {
      ...contract,
      operationId: "submitSubscribeForm",
      summary: "Subscribe by email",
      description: "The form of a status page. The address gets a link to confirm, at most once " +
        "a day; the response does not reveal whether it is subscribed. Cross-site forms are refused.",
      unaudited: true,
      throttle: clientLimit.check,
      form: z.object({ email: z.string().max(MAIL_ADDRESS_MAX).default("") }).meta({
        id: "SubscribeForm",
        example: { email: "ada@example.com" },
      }),
      replies: {
        400: {
          description: "The address is not valid; the form shows the error",
          returns: ErrorBody,
          alternatives: { "text/html": z.string() },
        },
      },
      failures: {
        ...failures,
        403: "The form was sent by another site",
        409: "SERVICE_BASE_URL is not set, and no admin has changed a status page since the update",
        429:
          `Limit of ${CLIENT_PER_MINUTE} requests per minute and address, or ${TOTAL_PER_MINUTE} in ` +
          "total, exceeded",
      },
    }, async ({ params, body, request }) => {
      const page = existingPage(deps, params.slug);
      const { current: branding } = deps.brand;
      assertSameSite(request);
      totalLimit.check("0.0.0.0");
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
        }, { branding, status: 400 });
      }
      return linkPage({ page, title: "Check your inbox", text: SENT }, { branding });
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
 * Refuses a form from another site, which would use its visitors' addresses. Only browsers send
 * these headers.
 *
 * @throws {AppError} `forbidden`
 */
function assertSameSite({ url, headers }: Request): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const host = headers.get("host") ?? new URL(url).host;
  const isSameSite = site !== null
    ? site === "same-origin" || site === "none"
    : origin === null || URL.parse(origin)?.host === host;
  if (!isSameSite) throw new AppError("forbidden", "This form was sent by another site");
}
