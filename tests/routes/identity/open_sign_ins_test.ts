/** Floods of sign-ins that are begun and not finished. @module */

import { equal } from "node:assert/strict";
import { sha256 } from "../../../services/builtins.ts";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, beginSignIn, comeBack, newPage, oidcApp } from "../../helpers/oidc.ts";

Deno.test("a flood of begun sign-ins from one network does not end one from elsewhere", async () => {
  using app = oidcApp();
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const { db } = app.deps;
  const url = await beginSignIn(app, id, newPage());
  db.transaction(() => {
    for (let n = 1; n < 10_000; n++) {
      db.run(
        `INSERT INTO oidc_requests SELECT :id, provider_id, nonce, code_verifier, redirect_uri,
           browser_hash, page_hash, return_to, :later, :client
         FROM oidc_requests WHERE id = :own`,
        {
          ...{ id: `${n}`, own: sha256(new URL(url).searchParams.get("state")!) },
          ...{ later: "2999-01-01T00:00:00.000Z", client: `2001:db8:1:${n.toString(16)}::/64` },
        },
      );
    }
  });

  await beginSignIn(app, id, newPage());

  const { n } = db.get<{ n: number }>("SELECT count(*) AS n FROM oidc_requests")!;
  equal(n, 10_000 - 100 + 1);
  equal((await comeBack(app, await idp.answer(url))).status, 303);
});
