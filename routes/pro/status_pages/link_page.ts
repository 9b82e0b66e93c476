/**
 * A short page about a subscription, styled like its status page: a sentence and at most one form.
 *
 * @module
 */

import type { Branding } from "../../../services/access/brand_cache.ts";
import type { SubscribedPage } from "../../../services/pro/status_pages/subscribers.ts";
import { hashSource } from "../../html/content_security_policy.ts";
import type { RawResponse } from "../../contract/endpoint.ts";
import sheet from "./link_page.css" with { type: "text" };
import { type Markup, markup, trusted } from "../../html/markup.ts";
import { statusPageStyle } from "./view.ts";

export interface LinkPage {
  /** `undefined` if it is unknown or not public. */
  page: SubscribedPage | undefined;
  title: string;
  text: string;
  /** Label of a button that sends a `POST` to the page's own address. */
  button?: string;
  /** Field for an email address; `problem` says what is wrong with the submitted value. */
  email?: { value: string; problem?: string };
}

/** Stands in for an unknown page. */
const UNKNOWN: SubscribedPage = { name: "Status page", theme: {}, url: null };

const encoder = new TextEncoder();

/** Renders the page. It uses the colors and the font of the branding. */
export function linkPage(
  { page = UNKNOWN, title, text, button, email }: LinkPage,
  { branding, status = 200 }: { branding?: Branding | undefined; status?: number } = {},
): RawResponse {
  const style = statusPageStyle(page, branding) + sheet;
  const document = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} - ${page.name}</title>
<link rel="icon" href="data:,">
<style>${trusted(style)}</style>
</head>
<body>
<header class="top">
<div class="wrap">
<h1 dir="auto">${page.name}</h1>
</div>
</header>
<main class="wrap">
<section class="card notice" aria-labelledby="notice">
<h2 id="notice">${title}</h2>
<p>${text}</p>
${
    button !== undefined && markup`<form method="post">${email !== undefined && emailField(email)}
<button>${button}</button>
</form>`
  }
${page.url !== null && markup`<p><a href="${page.url}">Go to the status page</a></p>`}
</section>
</main>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src ${hashSource(style)}`,
    "img-src data:",
    "base-uri 'none'",
    `form-action ${button === undefined ? "'none'" : "'self'"}`,
    "frame-ancestors 'none'",
  ];
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      // The form's POST must name the origin of its page.
      "referrer-policy": "same-origin",
      vary: "accept",
    },
    body: encoder.encode(document.text),
  };
}

function emailField({ value, problem }: NonNullable<LinkPage["email"]>): Markup {
  return markup`
<p class="field"><label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${value}"${
    problem !== undefined && markup` aria-invalid="true" aria-describedby="problem"`
  }></p>${
    problem !== undefined && markup`
<p class="problem" id="problem">${problem}</p>`
  }`;
}
