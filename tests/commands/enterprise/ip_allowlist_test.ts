import { deepEqual, equal, match } from "node:assert/strict";
import { runHere, temporaryDirectory } from "../../helpers/command.ts";
import { startLongshore } from "../../helpers/longshore.ts";

const BASE = "/api/ext/service-enterprise/ip-allowlist";

Deno.test(
  "ip-allowlist off admits every address again, with a running service and without one",
  async () => {
    using directory = temporaryDirectory();
    const env = { TRUSTED_PROXIES: "127.0.0.1" };
    const dataDir = `${directory.path}/data`;
    const inside = { headers: { "x-forwarded-for": "192.0.2.7" } };
    const outside = { headers: { "x-forwarded-for": "198.51.100.9" } };
    const off = () => runHere(["ip-allowlist", "off"], { env: { DATA_DIR: dataDir } });
    {
      await using longshore = await startLongshore({ env, dataDir });
      const call = longshore.call;
      // The token is asked for from the peer's own address.
      await longshore.token();
      equal((await call("POST", "/api/edition/trial")).status, 200);
      equal((await call("GET", "/api/overview", undefined, outside)).status, 200);
      const config = { enforcement_enabled: true };
      const rule = { cidr: "192.0.2.0/24", label: "office" };
      equal((await call("POST", `${BASE}/rules`, rule, inside)).status, 201);
      equal((await call("PUT", `${BASE}/config`, config, outside)).status, 409);
      equal((await call("PUT", `${BASE}/config`, config, inside)).status, 200);
      equal((await call("GET", "/api/overview", undefined, inside)).status, 200);
      const refused = await call("GET", "/api/overview", undefined, outside);
      deepEqual([refused.status, refused.body], [403, {
        error: "The address 198.51.100.9 is not on the IP allowlist",
      }]);
      // The peer itself is on no rule.
      equal((await call("GET", "/api/overview")).status, 403);
      equal((await call("GET", "/livez")).status, 200);
      match(longshore.stderr(), /"message":"address refused","address":"198\.51\.100\.9"/);

      const { code, stdout, stderr } = await off();
      equal(code, 0, stderr);
      equal(stdout, "The IP allowlist is no longer enforced: every address may use the service.\n");
      equal((await call("GET", "/api/overview", undefined, outside)).status, 200);
      const again = await off();
      deepEqual([again.code, again.stdout], [
        0,
        "The IP allowlist was not enforced; nothing was changed.\n",
      ]);
      deepEqual((await call("GET", `${BASE}/rules`)).body.rules.length, 1);
      const { entries } = (await call("GET", "/api/audit")).body;
      deepEqual(
        [entries[0].actor, entries[0].action, entries[0].outcome],
        ["console", "longshore ip-allowlist off", "success"],
      );
      equal((await call("PUT", `${BASE}/config`, config, inside)).status, 200);
      equal(await longshore.stop(), 0);
    }
    equal((await off()).code, 0);
    await using longshore = await startLongshore({ env, dataDir });
    equal((await longshore.call("GET", "/api/overview", undefined, outside)).status, 200);
  },
);

Deno.test("ip-allowlist exits with 2 for wrong usage and with 1 for a failure", async () => {
  using directory = temporaryDirectory();
  const env = { DATA_DIR: directory.path };
  for (
    const [args, code, says] of [
      [["ip-allowlist"], 2, /ip-allowlist needs off/],
      [["ip-allowlist", "on"], 2, /ip-allowlist needs off, not on/],
      [["ip-allowlist", "off", "now"], 2, /takes no more arguments, but got: now/],
      [["ip-allowlist", "off", "--force"], 2, /Unknown option '--force'/],
      [["ip-allowlist", "off"], 1, /DATA_DIR=\S+ has no state\.sqlite/],
    ] as const
  ) {
    const outcome = await runHere(args, { env });
    deepEqual([outcome.code, outcome.stdout], [code, ""], args.join(" "));
    match(outcome.stderr, says);
  }
  const { stdout } = await runHere(["ip-allowlist", "--help"]);
  match(stdout, /^Usage: longshore ip-allowlist off$/m);
});
