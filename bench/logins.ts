/**
 * Logins with email and password: their duration under load, and the memory that stays resident
 * afterwards.
 *
 * @module
 */

import { bundlePrograms, type Running, start } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

const WRONG = 300;
const RIGHT = 100;

/** Clients that log in at the same time. */
const CLIENTS = 4;

/** Enough for the start to finish, and for the last worker to end. */
const SETTLE_MS = 2_000;

/** Limit of additional resident memory after the logins, in MB. */
const LEFT_MAX_MB = 25;

const ACCOUNT = { email: "admin@example.com", password: "correct horse battery" };

export async function benchLogins(): Promise<void> {
  await using bundles = await bundlePrograms();
  await using service = await start(bundles.service, {
    DOCKER_HOST: "unix:///nonexistent.sock",
    AUTH_MODE: "users",
    ADMIN_EMAIL: ACCOUNT.email,
    ADMIN_PASSWORD: ACCOUNT.password,
    TRUSTED_PROXIES: "127.0.0.1",
  });
  const before = await settledMemoryMb(service);
  const wrong = await logIn(service, WRONG, (i) => ({
    email: `user${i}@example.com`,
    password: "wrong horse battery",
  }), 401);
  const right = await logIn(service, RIGHT, () => ACCOUNT, 200);
  const after = await settledMemoryMb(service);

  printTable(`Logins by ${CLIENTS} clients at a time`, [
    { what: `${WRONG} wrong`, ...wrong },
    { what: `${RIGHT} right`, ...right },
  ]);
  console.log(`  Resident memory: ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`);
  printVerdict("memory left behind", after - before, LEFT_MAX_MB, " MB");
}

async function settledMemoryMb(service: Running): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return await service.memoryMb();
}

/** Each login has its own client address, because failures of one address are throttled. */
async function logIn(
  { target }: Running,
  count: number,
  bodyOf: (i: number) => typeof ACCOUNT,
  expected: number,
): Promise<{ "logins/s": number; "median ms": number; "slowest ms": number }> {
  const times: number[] = [];
  let next = 0;
  const client = async () => {
    for (let i = next++; i < count; i = next++) {
      const begun = performance.now();
      const response = await fetch(`http://127.0.0.1:${target.port}/auth/login`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-forwarded-for": `198.51.${i >> 8}.${i & 255}`,
        },
        body: JSON.stringify(bodyOf(i)),
      });
      await response.body?.cancel();
      if (response.status !== expected) throw new Error(`login: status ${response.status}`);
      times.push(performance.now() - begun);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    "logins/s": count / ((performance.now() - begun) / 1000),
    "median ms": median(times),
    "slowest ms": Math.max(...times),
  };
}
