/** Events about accounts. @module */

import { joined } from "../text.ts";
import { kind } from "./kind.ts";

export const accountKinds = [
  kind("account.new_sign_in", {
    data: {} as {
      /** The email; `key` for the API key. */
      account: string;
      userId: string;
      sessionId: string;
      address: string;
      userAgent: string | null;
    },
    description: "An account was used from a new address or browser",
    group: "Accounts",
    words: "new sign-in",
    title: "New sign-in",
    name: (field) => field("account") === "key" ? "API key" : field("account"),
    lines: (field, text) => [
      joined("Address: ", field("address")),
      joined("Browser: ", text("userAgent")),
    ],
    severity: "warning",
    page: "/sessions",
    permission: "users:read",
    isForAdmins: true,
    // It must not hide a sign-in with a stolen password.
    ignoresSilences: true,
  }),

  kind("account.factor_changed", {
    data: {} as {
      /** The email. */
      account: string;
      userId: string;
      /** E.g. `Passkey added`. */
      change: string;
      address: string;
    },
    description: "A user added or removed an authenticator app or a passkey",
    group: "Accounts",
    words: "second factor changed",
    title: "Second factor changed",
    name: (field) => field("account"),
    lines: (field) => [
      joined("Change: ", field("change")),
      joined("Address: ", field("address")),
    ],
    severity: "warning",
    page: "/users",
    permission: "users:read",
    isForAdmins: true,
    // It must not hide a way in that was added with a stolen session.
    ignoresSilences: true,
  }),

  kind("account.access_changed", {
    data: {} as {
      /** The email; `key` for the API key. */
      account: string;
      userId: string;
      /** E.g. `API token ci created`. */
      change: string;
      address: string;
    },
    description: "A user created an API token, replaced its secret, or changed their own email",
    group: "Accounts",
    words: "access changed",
    title: "Access changed",
    name: (field) => field("account") === "key" ? "API key" : field("account"),
    lines: (field) => [
      joined("Change: ", field("change")),
      joined("Address: ", field("address")),
    ],
    severity: "warning",
    page: "/users",
    permission: "users:read",
    isForAdmins: true,
    // It must not hide a way in that was added with a stolen session.
    ignoresSilences: true,
  }),
];
