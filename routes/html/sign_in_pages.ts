/**
 * Pages of a login at an identity provider: the one that sends a browser to an identity provider with a form (HTTP-POST
 * binding), and those that say how a login ended.
 *
 * @module
 */

import { hashSource } from "./content_security_policy.ts";
import { type Markup, markup, trusted } from "./markup.ts";

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
export function signInFormPage({ url, fields }: LoginForm): { text: string; policy: string } {
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
export function signInRefusalPage(
  reason: string,
  signIn: string,
): { text: string; policy: string } {
  return messagePage(
    "Sign-in refused",
    markup`<p>${reason}.</p>
<p><a href="${signIn}">Back to the sign-in</a></p>`,
  );
}

/** Ends the test of a provider. @param back The address of the providers. */
export function testEndPage(back: string): { text: string; policy: string } {
  return messagePage(
    "Test sign-in completed",
    markup`<p>Its claims are shown at the provider. No session was started.</p>
<p><a href="${back}">Back to the identity providers</a></p>`,
  );
}

function messagePage(title: string, body: Markup): { text: string; policy: string } {
  const page = pageWith(title, markup`<h1>${title}</h1>\n${body}`);
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
