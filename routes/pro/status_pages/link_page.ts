/**
 * A short page about a subscription, in the look of its status page: a sentence, and perhaps a
 * form. No script.
 *
 * @module
 */

import type { Branding } from "../../../services/state/brand_cache.ts";
import { nodeCrypto } from "../../../services/builtins.ts";
import type { SubscribedPage } from "../../../services/pro/status_pages/subscribers.ts";
import type { RawAnswer } from "../../endpoint.ts";
import sheet from "./link_page.css" with { type: "text" };
import { type Markup, markup, trusted } from "./markup.ts";
import { statusPageStyle } from "./view.ts";

export interface LinkPage {
  /** `undefined` where it is not known, or was not told. */
  page: SubscribedPage | undefined;
  title: string;
  text: string;
  /** Words of a button that sends a `POST` to the page's own address. */
  button?: string;
  /** Asks for an email address with it; `problem` is what is wrong with the former one. */
  email?: { value: string; problem?: string };
}

/** For pages of which nothing is known. */
const PLAIN: SubscribedPage = { name: "Status page", theme: {}, url: null };

const encoder = new TextEncoder();

/**
 * The page as it is sent.
 *
 * @param options.look Of the service, of which this page takes colors and font.
 */
export function linkPage(
  { page = PLAIN, title, text, button, email }: LinkPage,
  { look, status = 200 }: { look?: Branding | undefined; status?: number } = {},
): RawAnswer {
  const style = statusPageStyle(page, look) + sheet;
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
<section class="card told" aria-labelledby="told">
<h2 id="told">${title}</h2>
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
  const hash = nodeCrypto().createHash("sha256").update(style).digest("base64");
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
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
      // So that the form's POST names the origin of its page.
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
