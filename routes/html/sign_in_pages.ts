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

const STYLE = "*{box-sizing:border-box}" +
  "body{font:1rem/1.5 system-ui,sans-serif;margin:0;min-height:100vh;padding:1rem;display:grid;" +
  "place-content:center;color-scheme:light dark;background:light-dark(#f6f8fa,#0f1318);" +
  "color:light-dark(#1c2733,#e6eaf0)}" +
  "main{width:26rem;max-width:calc(100vw - 2rem);padding:1.75rem;border-radius:.75rem;" +
  "border:1px solid light-dark(#d9dfe6,#2b333d);background:light-dark(#fff,#171c23);" +
  "overflow-wrap:break-word}" +
  "h1{font-size:1.25rem;margin:0 0 .75rem}p{margin:0 0 1.25rem}p:last-child{margin:0}" +
  "a,button{display:inline-block;font:inherit;font-weight:550;text-decoration:none;cursor:pointer;" +
  "padding:.5rem 1rem;border:0;border-radius:.4rem;background:#1f61d8;color:#fff}";

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
    markup`<p>No session was started. Go back to the tab of the dashboard with the test, and choose “Show claims”.</p>
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
<main>
${body}
</main>
</body>
</html>
`;
