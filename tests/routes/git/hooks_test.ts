/** Webhooks of forges. @module */

import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { deepEqual, equal } from "node:assert/strict";
import { gitWorld } from "../../helpers/git_world.ts";
import { keptLog } from "../../helpers/test_app.ts";

const BODY = JSON.stringify({ ref: "refs/heads/main", repository: { name: "stacks" } });
const AT = "2026-01-01T12:00:00Z";
const stamp = `${Date.parse(AT) / 1000}`;

const hex = (secret: string, body: string, hash = "sha256") =>
  createHmac(hash, secret).update(body).digest("hex");

const standard = (secret: string, id: string, timestamp: string, body: string) => ({
  "webhook-id": id,
  "webhook-timestamp": timestamp,
  "webhook-signature": `v1,${
    createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
      .update(`${id}.${timestamp}.${body}`).digest("base64")
  }`,
});

Deno.test("a webhook requests one fetch if its signature is valid", async (t) => {
  const { log, lines } = keptLog();
  await using world = await gitWorld([], { log, now: AT });
  const { app, add } = world;
  const repository = await add("https://192.168.1.2/a.git", { mapping: [], pollMinutes: 0 });
  const other = await add("https://192.168.1.2/b.git", { mapping: [], name: "Other" });
  const { webhookPath, webhookSecret: secret } = repository;
  app.deps.git.takeRequested();
  const send = async (headers: Record<string, string>, body: string | Uint8Array = BODY) => {
    const { status } = await app.call("POST", webhookPath, body, {
      role: "public",
      headers: { "content-type": "application/json", ...headers },
    });
    return [status, app.deps.git.takeRequested().length];
  };

  const genuine: Record<string, Record<string, string>> = {
    GitHub: { "x-hub-signature-256": `sha256=${hex(secret, BODY)}`, "x-github-delivery": "1" },
    Gitea: { "x-gitea-signature": hex(secret, BODY), "x-gitea-delivery": "2" },
    Forgejo: { "x-forgejo-signature": hex(secret, BODY), "x-gitea-delivery": "3" },
    Bitbucket: { "x-hub-signature": `sha256=${hex(secret, BODY)}`, "x-request-uuid": "4" },
    "GitLab with a secret token": { "x-gitlab-token": secret, "x-gitlab-event-uuid": "5" },
    "GitLab with a signing token": standard(secret, "6", stamp, BODY),
  };
  for (const [forge, headers] of Object.entries(genuine)) {
    await t.step(`${forge}, and the same delivery again, also with another id`, async () => {
      deepEqual(await send(headers), [202, 1]);
      deepEqual(await send({ ...headers, "x-github-delivery": "100" }), [202, 0]);
      app.deps.git.forgetDeliveries(repository.id);
    });
  }

  const refused: Record<string, Record<string, string>> = {
    "no signature": {},
    "a wrong signature": { "x-hub-signature-256": `sha256=${hex("x", BODY)}` },
    "the signature of another body": { "x-hub-signature-256": `sha256=${hex(secret, "{}")}` },
    "the secret of another repository": {
      "x-hub-signature-256": `sha256=${hex(other.webhookSecret, BODY)}`,
    },
    "SHA-1": { "x-hub-signature": `sha1=${hex(secret, BODY, "sha1")}` },
    "a wrong token": { "x-gitlab-token": `${secret}x` },
    "a stale time stamp": standard(secret, "7", `${Number(stamp) - 301}`, BODY),
    "a time stamp that is none": standard(secret, "8", "soon", BODY),
    "the signature of another id": { ...standard(secret, "9", stamp, BODY), "webhook-id": "10" },
    "a wrong signing token beside a right secret": {
      ...standard(other.webhookSecret, "11", stamp, BODY),
      "x-gitlab-token": secret,
    },
  };
  for (const [what, headers] of Object.entries(refused)) {
    await t.step(`${what} is refused`, async () => {
      deepEqual(await send(headers), [401, 0]);
    });
  }

  await t.step("an unknown token and a large body are refused", async () => {
    const body = new Uint8Array(10 * 1024 * 1024);
    const headers = { "content-length": `${body.length}`, "x-gitlab-token": secret };
    deepEqual(await send(headers, body), [413, 0]);
    const unknown = await app.call("POST", "/hooks/git/x", {}, { role: "public" });
    equal(unknown.status, 404);
  });

  await t.step("a flood is refused for a minute, and logged once for each minute", async () => {
    app.clock.advance({ seconds: 61 });
    lines.length = 0;
    const statuses: number[] = [];
    for (let at = 0; at < 1_000; at++) statuses.push((await send({}))[0]!);
    deepEqual([statuses.slice(0, 120), statuses.slice(120)], [
      new Array(120).fill(401),
      new Array(880).fill(429),
    ]);
    const counts = () =>
      lines.splice(0).filter((line) => line.includes("git webhook refused"))
        .map((line) => JSON.parse(line).count);
    // Those of the steps before, and the first one of the flood.
    deepEqual(counts(), [Object.keys(refused).length]);
    app.clock.advance({ seconds: 61 });
    deepEqual(await send(standard(secret, "12", `${Number(stamp) + 122}`, BODY)), [202, 1]);
    deepEqual(await send({}), [401, 0]);
    deepEqual(counts(), [120]);
  });

  await t.step("a delivery without a signature is refused before its body is read", async () => {
    const body = new ReadableStream({ pull: () => Promise.reject(new Error("it was read")) });
    const request = new Request(`http://localhost${webhookPath}`, { method: "POST", body });
    equal((await app.app(request, "198.51.100.7")).status, 401);
  });
});
