/** A login between its storage and the response with its tokens. @module */

import type { Session } from "../accounts.ts";
import type { UserRole } from "../caller.ts";

/** A login with its refresh token, of which only the hash is stored. */
export interface OpenLogin {
  session: Session;
  role: UserRole;
  refreshToken: string;
  /** When the refresh token and its access token were issued. */
  issuedAt: Date;
  /** When the login ends, regardless of renewals; `null` for no end. */
  endsAt: Date | null;
  /** The hash of the page's secret, without which the refresh token is refused; `null` for none. */
  pageHash: string | null;
}

/** Credentials that renew or end a login. */
export interface PresentedTokens {
  /** Refresh tokens, of which one is the client's: other sites of a host can add cookies. */
  tokens: readonly string[];
  /** The hash of the page's secret; `null` from clients other than pages. */
  pageHash: string | null;
}

/** A login at an identity provider, which the browser that began it turns into a session. */
export interface CompletedLogin {
  login: OpenLogin;
  /** The hash of that browser's login cookie. The secret of its page is in the login. */
  browserHash: string;
  /** Whether the provider says that it has asked for several factors. */
  secondFactorDone: boolean;
}
