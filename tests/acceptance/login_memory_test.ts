import { equal } from "node:assert/strict";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

const WRONG = 24;
const RIGHT = 8;

/** Logins at the same time. */
const CLIENTS = 4;

/** Resident memory that any number of logins may leave behind, in MB. */
const LEFT_MAX_MB = 25;

const ADMIN = { email: "admin@example.com", password: "correct horse battery" };

long(Deno.test)("memory does not grow with the number of logins", async () => {
  await using service = await startLongshore({
    env: {
      AUTH_MODE: "users",
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      TRUSTED_PROXIES: "127.0.0.1",
    },
  });
  let clients = 0;
  // Each from an address of its own, because failures of one address are throttled.
  const logIn = async (body: typeof ADMIN) => {
    const headers = { "x-forwarded-for": `198.51.100.${clients++}` };
    return (await service.call("POST", "/auth/login", body, { token: null, headers })).status;
  };
  const logInTimes = async (count: number, bodyOf: (i: number) => typeof ADMIN, status: number) => {
    for (let i = 0; i < count; i += CLIENTS) {
      const bodies = Array.from({ length: CLIENTS }, (_, n) => bodyOf(i + n));
      equalAll(await Promise.all(bodies.map(logIn)), status);
    }
  };
  await logInTimes(CLIENTS, () => ADMIN, 200);
  const beforeMb = residentMb(service.pid);

  await logInTimes(WRONG, (i) => ({ ...ADMIN, email: `user${i}@example.com` }), 401);
  await logInTimes(RIGHT, () => ADMIN, 200);

  await until(
    `resident memory is at most ${LEFT_MAX_MB} MB above the ${beforeMb} MB before`,
    () => residentMb(service.pid) <= beforeMb + LEFT_MAX_MB,
  );
});

function equalAll(statuses: number[], expected: number): void {
  for (const status of statuses) equal(status, expected);
}

function residentMb(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
