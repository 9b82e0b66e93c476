/**
 * The page that takes a browser to an identity provider by a form (the HTTP-POST binding).
 *
 * @module
 */

import { nodeCrypto } from "../../../services/builtins.ts";

/** Without scripts the button does the same. */
const SCRIPT = "document.forms[0].submit()";

const STYLE = "body{font:1rem/1.5 system-ui,sans-serif;margin:20vh auto 0;padding:0 1rem;" +
  "max-width:24rem;text-align:center;color-scheme:light dark}" +
  "button{font:inherit;padding:.75em 1.5em}";

/** Where a form goes, and what it brings along. */
export interface LoginForm {
  url: string;
  fields: Readonly<Record<string, string>>;
}

/**
 * The page as HTML, and the `Content-Security-Policy` under which nothing but its own script and
 * style run.
 */
export function ssoLoginPage({ url, fields }: LoginForm): { text: string; policy: string } {
  const inputs = Object.entries(fields).map(([name, value]) =>
    `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`
  );
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signing in</title>
<style>${STYLE}</style>
</head>
<body>
<form method="post" action="${escaped(url)}">
${inputs.join("\n")}
<p>You are being taken to your identity provider.</p>
<button type="submit">Continue</button>
</form>
<script>${SCRIPT}</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(SCRIPT)}'`,
    `style-src '${hashOf(STYLE)}'`,
    // Browsers apply it to each redirect that answers the form as well, and identity providers
    // send on to login pages of other hosts.
    `form-action ${new URL(url).origin} https:`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return { text, policy: policy.join("; ") };
}

const hashOf = (text: string) =>
  `sha256-${nodeCrypto().createHash("sha256").update(text).digest("base64")}`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  // A parser would read a carriage return as a line feed.
  "\r": "&#13;",
};

const escaped = (text: string) => text.replace(/[&<>"'\r]/g, (character) => ENTITIES[character]!);
