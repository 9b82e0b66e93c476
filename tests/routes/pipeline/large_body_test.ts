import { deepEqual, equal } from "node:assert/strict";
import { loginByKey } from "../../helpers/accounts.ts";
import { testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const VALIDATE = "/api/stacks/validate";
const SOURCES = { compose: "services: {web: {image: nginx}}" };
const LARGE = String(1024 * 1024 + 1);

Deno.test("a large body counts until its response, a small one does not", async () => {
  using app = testApp();
  const { largeBodies } = app.deps.limiters;
  const { accessToken } = await loginByKey(app);
  const send = (length: string | undefined) => {
    const { readable, writable } = new TransformStream<Uint8Array>();
    const headers = new Headers({
      authorization: `Bearer ${accessToken}`,
      "content-type": "application/json",
    });
    if (length !== undefined) headers.set("content-length", length);
    const request = new Request(`http://longshore.test${VALIDATE}`, {
      method: "POST",
      headers,
      body: readable,
    });
    return { answer: app.app(request, "::1"), sent: writable.getWriter() };
  };

  const large = [send(LARGE), send(undefined)];
  const small = send("100");
  await until("the large bodies are counted", () => largeBodies.taken === 2);
  for (const { answer, sent } of [...large, small]) {
    await sent.write(new TextEncoder().encode(JSON.stringify(SOURCES)));
    await sent.close();
    const response = await answer;
    await response.body?.cancel();
    equal(response.status, 200);
  }
  equal(largeBodies.taken, 0);
});

Deno.test("a caller with three large bodies gets no fourth, but others do", async () => {
  using app = testApp();
  const { largeBodies } = app.deps.limiters;
  for (let at = 0; at < 3; at++) largeBodies.take({ userId: "key" });
  const text = JSON.stringify(SOURCES);
  const headers = { "content-type": "application/json" };
  const refused = await app.call("POST", VALIDATE, text, {
    headers: { ...headers, "content-length": LARGE },
  });
  deepEqual([refused.status, refused.body.error], [
    429,
    "Share of 3 of 6 large request bodies reached for these logins or this API token; " +
    "close one first",
  ]);
  const small = { ...headers, "content-length": String(text.length) };
  equal((await app.call("POST", VALIDATE, text, { headers: small })).status, 200);
  largeBodies.take({ userId: "other" });
});
