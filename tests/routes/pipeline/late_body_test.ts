/** Rights that end while a body is on its way. @module */

import { equal } from "node:assert/strict";
import { selectUsers } from "../../../db/users.ts";
import { revokeFamiliesOfUser } from "../../../services/access/sign_in/families.ts";
import { login, usersApp } from "../../helpers/accounts.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";

Deno.test("a request whose session ends while its body arrives has no effect", async () => {
  using app = await usersApp();
  const { accessToken } = await login(app, "admin@example.com");
  const body = new TextEncoder().encode(
    JSON.stringify({ email: "eve@example.com", password: "violet tractor moons", role: "admin" }),
  );
  const request = new Request("http://longshore.test/auth/users", {
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: new ReadableStream<Uint8Array>({
      pull(controller) {
        // The service asks for the body after it has checked the head.
        revokeFamiliesOfUser(app.deps, app.ids.admin);
        controller.enqueue(body);
        controller.close();
      },
    }, { highWaterMark: 0 }),
  });

  equal((await app.app(request, "192.0.2.1")).status, 401);
  equal(selectUsers(app.deps.db).length, 3);
});

Deno.test("an upload whose session ends while it arrives does not reach the engine as a whole", async () => {
  let received: string | undefined;
  await using fake = fakeEngine({
    "POST /images/load": ({ text }) => {
      received = text;
      return Response.json({ stream: "Loaded image: app:1\n" });
    },
  });
  using app = await usersApp({ engine: fake.engine });
  const { accessToken } = await login(app, "admin@example.com");
  const request = new Request("http://longshore.test/api/images/load", {
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/x-tar" },
    body: new ReadableStream<Uint8Array>({
      pull(controller) {
        revokeFamiliesOfUser(app.deps, app.ids.admin);
        controller.enqueue(new Uint8Array(512));
        controller.close();
      },
    }, { highWaterMark: 0 }),
  });

  equal((await app.app(request, "192.0.2.1")).status, 401);
  equal(received, undefined);
});
