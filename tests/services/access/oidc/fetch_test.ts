/** Requests to a provider that is down or slow. @module */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { forgetProvider } from "../../../../services/access/oidc/cache.ts";
import { fetchThrough } from "../../../../services/access/oidc/fetch.ts";
import { oidcApp } from "../../../helpers/oidc.ts";
import { until } from "../../../helpers/until.ts";

const GET = { method: "GET", headers: {} };

/** A provider that answers when the test says so, and counts its requests. */
function startSlowProvider() {
  const held: PromiseWithResolvers<Response>[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    held.push(Promise.withResolvers());
    return held.at(-1)!.promise;
  });
  const answer = (body = "ok") => held.forEach((each) => each.resolve(new Response(body)));
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    held,
    answer,
    async [Symbol.asyncDispose]() {
      answer();
      await server.shutdown();
    },
  };
}

Deno.test("a provider that cannot be reached is asked again after 10 seconds", async () => {
  using app = oidcApp();
  await using provider = startSlowProvider();
  const ask = (id: string) => fetchThrough(app.deps, id)(provider.url, GET);
  const timedOut = fetchThrough(app.deps, "acme")(provider.url, {
    ...GET,
    signal: AbortSignal.abort(new DOMException("", "TimeoutError")),
  });
  await rejects(timedOut, { name: "OutboundError", code: "timeout" });

  await rejects(ask("acme"), { name: "OutboundError", code: "timeout" });
  equal(provider.held.length, 0);
  const other = ask("other");
  await until("another provider is asked", () => provider.held.length === 1);
  provider.answer();
  equal((await other).status, 200);

  app.clock.advance({ seconds: 10 });
  const later = ask("acme");
  await until("it is asked again", () => provider.held.length === 2);
  provider.answer();
  equal((await later).status, 200);
});

Deno.test("a corrected or tested provider is asked at once", async () => {
  using app = oidcApp();
  await using provider = startSlowProvider();
  await rejects(fetchThrough(app.deps, "acme")("http://127.0.0.1:1/", GET));
  forgetProvider(app.deps.oidc, "acme");
  const answer = fetchThrough(app.deps, "acme")(provider.url, GET);
  await until("it is asked", () => provider.held.length === 1);
  provider.answer();
  equal((await answer).status, 200);
});

Deno.test("an answer that is too large fails for its own user only", async () => {
  using app = oidcApp();
  await using provider = startSlowProvider();
  const ask = () => fetchThrough(app.deps, "acme")(provider.url, GET);
  const large = ask();
  await until("it is asked", () => provider.held.length === 1);
  provider.answer("x".repeat(300_000));
  await rejects(large, { code: "too_large" });
  const small = ask();
  await until("it is asked again", () => provider.held.length === 2);
  provider.answer();
  equal((await small).status, 200);
});

Deno.test("at most 10 requests run at a provider, and 200 wait", async () => {
  using app = oidcApp();
  await using provider = startSlowProvider();
  const ask = async () => {
    try {
      return (await fetchThrough(app.deps, "acme")(provider.url, GET)).status;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const answers = Array.from({ length: 211 }, ask);
  equal(await answers[210], "Too many requests to it are waiting; try again later");
  await until("10 have arrived", () => provider.held.length === 10);
  equal(app.deps.oidc.calls.get("acme")!.waiting.length, 200);
  // Each answer lets the next one go.
  for (let known = 10; known < 210; known = provider.held.length) {
    provider.answer();
    await until("the next ones have arrived", () => provider.held.length > known);
  }
  provider.answer();
  deepEqual(new Set(await Promise.all(answers.slice(0, 210))), new Set([200]));
  const { running, waiting } = app.deps.oidc.calls.get("acme")!;
  deepEqual([running, waiting.length], [0, 0]);
});

Deno.test("a long WWW-Authenticate header is left out, because reading it takes long", async () => {
  using app = oidcApp();
  const lengths = [2_048, 2_049];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    const headers = { "www-authenticate": "B".repeat(lengths.shift()!) };
    return new Response("", { status: 401, headers });
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  const ask = async () => (await fetchThrough(app.deps, "acme")(url, GET)).headers;
  equal((await ask()).has("www-authenticate"), true);
  equal((await ask()).has("www-authenticate"), false);
});
