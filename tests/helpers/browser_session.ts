/**
 * A browser's sign-in in tests: keeps the session cookie and the page's secret as a browser does.
 *
 * @module
 */

import { randomText } from "../../services/builtins.ts";
import { type Answer, type CallOptions, TEST_API_KEY, type TestApp } from "./test_app.ts";

/** Headers that the service's own pages send. */
export const OWN_PAGE = { "x-requested-with": "longshore" };

/** Creates the secret of a page. */
export const pageSecret = (): string => randomText(32);

export interface TestBrowser {
  /** The secret of the page. */
  secret: string;
  /** The cookie as `name=value`; empty without one. */
  cookie: string;
  signIn(body?: unknown, options?: CallOptions): Promise<Answer>;
  refresh(options?: CallOptions): Promise<Answer>;
  signOut(options?: CallOptions): Promise<Answer>;
}

/** @param userAgent Sent with every request. */
export function testBrowser(
  app: TestApp,
  userAgent = "Mozilla/5.0 (test) Browser/1.0",
): TestBrowser {
  const call = async (
    method: string,
    path: string,
    body: unknown,
    { headers, ...options }: CallOptions = {},
  ) => {
    const answer = await app.call(method, path, body, {
      role: "public",
      ...options,
      headers: {
        "user-agent": userAgent,
        "x-page-secret": browser.secret,
        ...(browser.cookie !== "" && { cookie: browser.cookie }),
        ...(headers ?? OWN_PAGE),
      },
    });
    const [pair] = answer.headers.get("set-cookie")?.split(";") ?? [];
    if (pair !== undefined) browser.cookie = pair.endsWith("=") ? "" : pair;
    return answer;
  };
  const browser: TestBrowser = {
    secret: pageSecret(),
    cookie: "",
    signIn: (body = { apiKey: TEST_API_KEY }, options) =>
      call("POST", "/auth/session", body, options),
    refresh: (options) => call("POST", "/auth/session/refresh", undefined, options),
    signOut: (options) => call("DELETE", "/auth/session", undefined, options),
  };
  return browser;
}
