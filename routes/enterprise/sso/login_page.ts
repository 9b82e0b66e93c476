/**
 * Pages of a login: the one that sends a browser to an identity provider with a form (HTTP-POST
 * binding), and the one that says why a login was refused.
 *
 * @module
 */

import { hashSource } from "../../html/content_security_policy.ts";
import { type Markup, markup, trusted } from "../../html/markup.ts";

/** The button does the same without scripts. */
const SCRIPT = "document.forms[0].submit()";

const STYLE = "body{font:1rem/1.5 system-ui,sans-serif;margin:20vh auto 0;padding:0 1rem;" +
  "max-width:24rem;text-align:center;color-scheme:light dark}" +
  "button{font:inherit;padding:.75em 1.5em}";

/** Target and fields of the form. */
interface LoginForm {
  url: string;
  fields: Readonly<Record<string, string>>;
}

/** Renders the page, and a `Content-Security-Policy` that allows only its own script and style. */
export function ssoLoginPage({ url, fields }: LoginForm): { text: string; policy: string } {
  const inputs = Object.entries(fields).map(([name, value]) =>
    markup`<input type="hidden" name="${name}" value="${value}">
`
  );
  const page = pageWith(
    "Signing in",
    markup`<form method="post" action="${url}">
${inputs}<p>You are being taken to your identity provider.</p>
<button type="submit">Continue</button>
</form>
<script>${trusted(SCRIPT)}</script>`,
  );
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(SCRIPT)}`,
    `style-src ${hashSource(STYLE)}`,
    // Browsers also apply it to redirects, and identity providers redirect to other hosts.
    `form-action ${new URL(url).origin} https:`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return { text: page.text, policy: policy.join("; ") };
}

/** Says why a login was refused. @param signIn The address of the sign-in page. */
export function ssoRefusalPage(
  reason: string,
  signIn: string,
): { text: string; policy: string } {
  const page = pageWith(
    "Sign-in refused",
    markup`<h1>Sign-in refused</h1>
<p>${reason}.</p>
<p><a href="${signIn}">Back to the sign-in</a></p>`,
  );
  const policy = `default-src 'none'; style-src ${hashSource(STYLE)}; base-uri 'none'; ` +
    "form-action 'none'; frame-ancestors 'none'";
  return { text: page.text, policy };
}

const pageWith = (title: string, body: Markup) =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`;
