import { deepEqual, equal, throws } from "node:assert/strict";
import { createShares, type Holder } from "../../../services/access/shares.ts";

const logins = (userId: string): Holder => ({ userId });
const token = (userId: string, id: string): Holder => ({
  userId,
  apiToken: { id },
});

/** Takes as much as the holder gets. @returns How many that was, and why there were no more. */
function takeAll(shares: ReturnType<typeof createShares>, holder: Holder) {
  for (let count = 0;; count++) {
    try {
      shares.take(holder);
    } catch (error) {
      return { count, error: error as Error };
    }
  }
}

const streams = () => createShares({ what: "streams", max: 200, hint: " (HINT)" });

Deno.test("one API token gets half, and each one after it half of the rest", () => {
  const shares = streams();
  const { count, error } = takeAll(shares, token("u1", "t1"));
  equal(count, 100);
  deepEqual({ ...error, message: error.message }, {
    ...error,
    code: "too_many_requests",
    message: "Share of 100 of 200 streams reached for these logins or this API token; " +
      "close one first",
  });
  equal(takeAll(shares, logins("u1")).count, 50);
  equal(takeAll(shares, logins("u2")).count, 25);
  equal(takeAll(shares, token("u3", "t2")).count, 1, "the rest is for accounts without any");
});

Deno.test("an account with many API tokens gets three quarters, and each other caller one", () => {
  const shares = streams();
  let count = 0;
  for (let at = 0; at < 5; at++) count += takeAll(shares, token("u1", `t${at}`)).count;
  equal(count, 150);
  for (let at = 0; at < 50; at++) shares.take(logins(`other ${at}`));
  throws(() => shares.take(logins("late")), {
    code: "unavailable",
    message: "Limit of 200 streams reached (HINT)",
  });
});

Deno.test("an account with an API token for each download leaves the last ones to accounts without any", () => {
  const shares = createShares({ what: "downloads", max: 8 });
  const account = "Share of 6 of 8 downloads reached for this account; close one first";
  for (let at = 0; at < 6; at++) shares.take(token("u1", `t${at}`));
  throws(() => shares.take(token("u1", "t6")), { code: "too_many_requests", message: account });
  shares.take(logins("u2"));
  throws(() => shares.take(token("u2", "t7")), { code: "too_many_requests" });
  shares.take(logins("u3"));
  throws(() => shares.take(logins("u4")), { code: "unavailable" });
});

Deno.test("in key mode, each API token counts as an account", () => {
  const shares = createShares({ what: "downloads", max: 8 });
  for (let at = 0; at < 8; at++) shares.take(token("key", `t${at}`));
  equal(shares.taken, 8);
});

Deno.test("what was given back can be taken again, but counts once", () => {
  const shares = createShares({ what: "streams", max: 1 });
  const giveBack = shares.take(logins("u1"));
  throws(() => shares.take(logins("u2")), { message: "Limit of 1 streams reached" });
  giveBack();
  giveBack();
  equal(shares.taken, 0);
  shares.take(logins("u2"));
});
