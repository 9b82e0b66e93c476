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

/** Terms of a login and all its renewals. */
export interface LoginTerms extends Pick<OpenLogin, "endsAt" | "pageHash"> {
  /** Whether an identity provider says that it has asked for several factors; default: no. */
  hasSecondFactor?: boolean;
  /** Stores what else belongs to the login, in the transaction that stores it. */
  record?: (session: Session) => void;
}

/** A sign-in whose first factor is proved. Nothing is stored before the second one is. */
export interface ProvedLogin extends LoginTerms {
  userId: string;
  /**
   * Whether the first factor still holds: the password was not changed, the sessions of the user were
   * not ended meanwhile; default: yes.
   */
  isValid?: () => boolean;
}

/** Time for the second factor, in milliseconds. */
export const SECOND_STEP_MS = 5 * 60_000;

/** A sign-in that waits for the second factor. */
export interface PendingLogin extends ProvedLogin {
  /** Address that it began from; only clients other than pages are held to it. */
  address: string;
}

/** A login at an identity provider, which the browser that began it turns into a session. */
export interface CompletedLogin extends ProvedLogin {
  /** The hash of that browser's login cookie. The hash of its page's secret is `pageHash`. */
  browserHash: string;
}
