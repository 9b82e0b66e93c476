import { deepEqual } from "node:assert/strict";
import { type Claims, joinClaims } from "../../../../services/access/oidc/claims.ts";

const A = "a@example.com";
const B = "b@example.com";

for (
  const [what, idToken, userInfo, expected] of [
    ["of the ID token", { email: A, email_verified: true }, { email: B }, [A, true]],
    ["of the userinfo endpoint", {}, { email: B, email_verified: true }, [B, true]],
    ["of the ID token for the address of the other", { email_verified: true }, { email: B }, [
      B,
      undefined,
    ]],
    ["of the userinfo endpoint for another address", { email: A }, {
      email: B,
      email_verified: true,
    }, [A, undefined]],
    ["of the same address", { email: A }, { email: A, email_verified: true }, [A, true]],
    ["refused by the ID token", { email: A, email_verified: false }, {
      email: A,
      email_verified: true,
    }, [A, false]],
  ] as const
) {
  Deno.test(`whether an address is verified: ${what}`, () => {
    const ada = (claims: Record<string, unknown>): Claims => ({ sub: "ada", ...claims });
    const { email, email_verified } = joinClaims(ada(idToken), ada(userInfo));
    deepEqual([email, email_verified], expected);
  });
}
