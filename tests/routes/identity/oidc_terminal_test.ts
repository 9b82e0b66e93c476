/** Terminals and streams of users whose OpenID Connect provider takes their role away. @module */

import { equal } from "node:assert/strict";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import { setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { addOidcProvider, evilSignIn, oidcApp } from "../../helpers/oidc.ts";
import { serveTerminals } from "../../helpers/terminal_client.ts";
import { until } from "../../helpers/until.ts";

Deno.test("a terminal ends when the provider gives its user no role, also without a refresh", async () => {
  await using engine = fakeEngine({
    "POST /containers/*/exec": () => Response.json({ Id: "exec1" }, { status: 201 }),
    "POST /exec/*/start": ({ body }) =>
      body.Cmd?.[1] === "-c" ? new Response(new Blob([""])) : new Response(new ReadableStream()),
    "GET /exec/*/json": () => Response.json({ Running: true, Pid: 42, ExitCode: null }),
    "POST /exec/*/resize": () => new Response(null, { status: 200 }),
  });
  using app = oidcApp({ engine: engine.engine, config: { terminal: "admin" } });
  setContainers(app, { name: "web" });
  await using idp = await startEvilProvider(app.clock.now);
  const answerWith = (groups: string[]) => {
    idp.answers.userInfo = { sub: "ada", email: "ada@example.com", email_verified: true, groups };
  };
  answerWith(["root"]);
  const id = await addOidcProvider(app, idp, {
    ...{ rolesClaim: "groups", roleMap: [{ value: "root", role: "admin" }], defaultRole: null },
  });
  const { body: { accessToken: token } } = await evilSignIn(app, idp, id);
  await using server = serveTerminals(app);
  const terminal = await server.open("/api/containers/web/terminal", {}, { token });

  app.clock.advance({ minutes: 14 });
  terminal.type("id\r");
  app.deps.terminals.check();
  equal(terminal.closed, undefined);
  answerWith([]);
  app.clock.advance({ minutes: 1 });
  app.deps.terminals.check();
  await until("the session has ended", () => app.deps.accounts.revokedCount > 0);
  app.deps.terminals.check();
  equal((await terminal.end()).code, 1008);
});
