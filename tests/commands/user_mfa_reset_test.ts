import { equal, ok } from "node:assert/strict";
import { createAuthenticator } from "../helpers/authenticator.ts";
import { runHere } from "../helpers/command.ts";
import { startLongshore } from "../helpers/longshore.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "violet tractor under nine moons";

Deno.test("user mfa-reset lets in a user who has lost their passkey", async () => {
  const env = { AUTH_MODE: "users", ADMIN_EMAIL: EMAIL, ADMIN_PASSWORD: PASSWORD, API_KEY: "" };
  const origin = "https://longshore.example.com";
  await using longshore = await startLongshore({ env: { ...env, SERVICE_BASE_URL: origin } });
  const call = async (path: string, body?: unknown, token: string | null = null) => {
    const answer = await longshore.call("POST", path, body, { token });
    ok(answer.status < 300, answer.body.error + longshore.stderr());
    return answer.body;
  };
  const logIn = () => call("/auth/login", { email: EMAIL, password: PASSWORD });
  const { accessToken: token } = await logIn();
  const authenticator = createAuthenticator(origin);
  const options = await call("/api/account/passkeys/options", undefined, token);
  await call("/api/account/passkeys", { credential: authenticator.create(options) }, token);
  const { mfaToken } = await logIn();
  const use = authenticator.use(await call("/auth/passkey/options", { mfaToken }));
  const { accessToken } = await call("/auth/mfa", { mfaToken, passkey: use });

  const reset = await runHere(["user", "mfa-reset", EMAIL], {
    env: { ...env, DATA_DIR: longshore.dataDir },
  });

  equal(reset.code, 0, reset.stderr);
  equal(
    reset.stdout,
    `The second factors of ${EMAIL} were removed; all sessions were revoked.\n`,
  );
  ok(accessToken);
  ok((await logIn()).accessToken);
});
