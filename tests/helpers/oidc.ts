/** Sign-ins of a test through OpenID Connect. @module */

import { equal } from "node:assert/strict";
import { sha256 } from "../../services/builtins.ts";
import type { EvilProvider } from "./evil_provider.ts";
import { type Jar, signInAt, type TestOidcProvider } from "./oidc_provider.ts";
import { type Answer, type TestApp, testApp, type TestAppOptions } from "./test_app.ts";

/** Address of the application under test. */
export const BASE_URL = "http://longshore.test";
export const CALLBACK = `${BASE_URL}/auth/oidc/callback`;

const OIDC = "/api/identity/oidc";

/** An application in users mode that may reach loopback addresses, at the time of this machine. */
export const oidcApp = ({ config, ...options }: TestAppOptions = {}): TestApp =>
  testApp({
    now: new Date().toISOString(),
    config: { authMode: "users", apiKey: null, outboundAllow: ["127.0.0.1"], ...config },
    ...options,
  });

/** Stores a provider. @returns Its id. */
export async function addOidcProvider(
  app: TestApp,
  { issuer, clientId, clientSecret }: Pick<
    TestOidcProvider,
    "issuer" | "clientId" | "clientSecret"
  >,
  settings: Record<string, unknown> = {},
): Promise<string> {
  const provider = { name: "Acme", issuer, clientId, clientSecret, defaultRole: "viewer" };
  const { status, body } = await app.call("POST", OIDC, { ...provider, ...settings });
  equal(status, 201, body.error);
  return body.id;
}

/** A page of a browser, with its secret and cookies. */
export interface BrowserPage {
  secret: string;
  pageHash: string;
  cookies: Jar;
}

export function newPage(): BrowserPage {
  const secret = crypto.getRandomValues(new Uint8Array(32))
    .toBase64({ alphabet: "base64url", omitPadding: true });
  return { secret, pageHash: sha256(secret), cookies: new Map() };
}

/** Begins a sign-in. @returns The address of the provider. */
export async function beginSignIn(
  app: TestApp,
  id: string,
  page: BrowserPage,
  returnTo = "/containers",
): Promise<string> {
  const query = new URLSearchParams({ page: page.pageHash, returnTo });
  const { status, headers, body } = await app.call(
    "GET",
    `/auth/oidc/${id}/login?${query}`,
    undefined,
    { role: "public" },
  );
  equal(status, 302, body);
  keepCookies(page, headers);
  return headers.get("location")!;
}

/** Comes back from the provider. */
export const comeBack = (app: TestApp, callback: URL): Promise<Answer> =>
  app.call("GET", callback.pathname + callback.search, undefined, { role: "public" });

/** Collects the session of a completed sign-in. */
export async function collectSession(
  app: TestApp,
  page: BrowserPage,
  { headers }: Pick<Answer, "headers">,
): Promise<Answer> {
  const code = new URL(headers.get("location")!, CALLBACK).hash.replace("#code=", "");
  return await callSession(app, page, "POST", "", { code });
}

/** Calls `/auth/session` as the page. */
export async function callSession(
  app: TestApp,
  page: BrowserPage,
  method: string,
  path = "",
  body?: unknown,
): Promise<Answer> {
  const cookie = [...page.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const answer = await app.call(method, `/auth/session${path}`, body, {
    role: "public",
    headers: { "x-page-secret": page.secret, "x-requested-with": "longshore", cookie },
  });
  keepCookies(page, answer.headers);
  return answer;
}

/** The whole way of a user. @returns The answer of `POST /auth/session`, or of a refusal. */
export async function signIn(
  app: TestApp,
  id: string,
  user: string,
  { page = newPage(), jar = new Map() }: { page?: BrowserPage; jar?: Jar } = {},
): Promise<Answer> {
  const callback = await signInAt(await beginSignIn(app, id, page), user, jar);
  const answer = await comeBack(app, callback);
  return answer.status === 303 ? await collectSession(app, page, answer) : answer;
}

/** The same at a provider that answers as the test wants. */
export async function evilSignIn(
  app: TestApp,
  idp: Pick<EvilProvider, "answer">,
  id: string,
  page = newPage(),
): Promise<Answer> {
  const answer = await comeBack(app, await idp.answer(await beginSignIn(app, id, page)));
  return answer.status === 303 ? await collectSession(app, page, answer) : answer;
}

function keepCookies({ cookies }: BrowserPage, headers: Headers): void {
  for (const set of headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
    cookies.set(name!, value!);
  }
}
