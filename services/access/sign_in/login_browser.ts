/** A browser that signs in at an identity provider. @module */

/** A browser that gets a session of the dashboard instead of tokens. */
export interface LoginBrowser {
  /** The hash of its login cookie. */
  hash: string;
  /** The hash of the secret of the page that began the login. */
  pageHash: string;
  /** The path of the dashboard that it goes to. */
  returnTo: string;
}

/** Validity of a login that was begun, in seconds: enough for a second factor. */
export const LOGIN_S = 15 * 60;

/** A successful login of a browser, which has to collect its session with the code. */
export interface BrowserLogin {
  code: string;
  /** The path of the dashboard that it goes to. */
  returnTo: string;
}

/** Details of a login for the audit log, known even if the login fails. */
export interface LoginNote {
  /** The user's id. */
  actor?: string;
  /** The name of the identity provider. */
  target?: string;
  /** That name, and those by which the provider has proved a user who is refused. */
  targets?: readonly string[];
  /** Why the login was refused. */
  command?: string;
  /** The path of the dashboard that the browser goes to. */
  returnTo?: string;
}
