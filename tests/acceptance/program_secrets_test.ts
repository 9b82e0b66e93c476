/**
 * The running program reveals no secret in a response, on standard output or on standard error.
 *
 * `no_secrets_test.ts` covers more in an application that it builds itself; this test repeats the
 * main part on the shipped program.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { operationsOf, request } from "../../deploy/build/endpoint_check.ts";
import { idOf } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { ssoTest } from "../helpers/sso.ts";
import { exampleOf } from "./endpoint_walk.ts";
import { hostileReceiver } from "./hostile_receiver.ts";
import { plantedSecrets } from "./planted_secrets.ts";
import { engineOf, environmentOf, plantedConfig } from "./planted_service.ts";
import { createKeys, filled, PRO, secretHolders } from "./secret_holders.ts";

/** Responses that show a secret to admins on purpose. */
const SHOWN = [
  "GET /api/containers/{id}",
  "GET /api/containers/{id}/inspect",
  "GET /api/stacks/{name}/source",
  "PUT /api/containers/{id}/limits",
];

long(ssoTest)("no output of the running program contains a secret", async () => {
  const secrets = plantedSecrets();
  await using receiver = hostileReceiver();
  await using fake = fakeEngine(engineOf(secrets));
  const config = plantedConfig(secrets, receiver);
  await using longshore = await startLongshore({
    engineSocket: fake.socketPath,
    env: {
      ...environmentOf(config),
      OUTBOUND_ALLOW: "127.0.0.0/8",
      SERVICE_BASE_URL: "http://longshore.test",
      LOG_LEVEL: "debug",
    },
  });
  const { baseUrl } = longshore;
  const login = { email: "admin@localhost", password: config.adminPassword };
  const { body: { accessToken: token } } = await longshore.call("POST", "/auth/login", login, {
    token: null,
  });
  const call = (method: string, path: string, body?: unknown) =>
    longshore.call(method, path, body, { token });
  equal((await call("POST", "/api/edition/trial", {})).status, 200);

  const ids = new Map([["/api/containers", idOf("web")], ["/api/stacks", "shop"]]);
  const keys = await createKeys(secrets);
  const { dataDir } = longshore;
  for (const { at, body } of secretHolders({ secrets, receiver, ids, keys, dataDir })) {
    const { status, body: record } = await call("POST", filled(at, ids), body());
    ok(status < 300, `${at}: ${status} ${JSON.stringify(record)}`);
    if (record.id !== undefined) ids.set(at, record.id);
    if (record.slug !== undefined) {
      ids.set("/status", record.slug).set(`${PRO}/status-pages/public`, record.slug);
    }
  }

  const leaks: string[] = [];
  let succeeded = 0;
  const operations = await operationsOf(baseUrl);
  for (const method of ["GET", "PUT", "DELETE"]) {
    for (const operation of operations.filter((each) => each.method === method)) {
      const schema = operation.description.requestBody?.content["application/json"]?.schema;
      const { status, text } = await request(baseUrl, token, operation, {
        path: filled(operation.path.replace(/\{(\w+)\}/g, ":$1"), ids),
        ...(schema !== undefined && { body: exampleOf(schema) }),
      });
      const where = `${method} ${operation.path}`;
      if (status < 300) succeeded++;
      const found = secrets.leaksIn(text);
      // Also proves that the search works.
      if (SHOWN.includes(where)) ok(found.length > 0, `${where} ${status}`);
      else leaks.push(...found.map(({ secret }) => `${where} ${status}: ${secret}`));
    }
  }
  equal(await longshore.stop(), 0);
  for (const output of [longshore.stdout(), longshore.stderr()]) {
    for (const { secret, excerpt } of secrets.leaksIn(output)) {
      leaks.push(`output: ${secret}: ${excerpt}`);
    }
  }

  equal(leaks.join("\n"), "");
  ok(succeeded > 80, `${succeeded} answers`);
});
