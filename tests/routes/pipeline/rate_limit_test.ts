import { equal, throws } from "node:assert/strict";
import { rateLimit } from "../../../routes/pipeline/rate_limit.ts";
import { ThrottledError } from "../../../services/errors.ts";

function limited(perMinute: number) {
  let at = Date.parse("2026-01-01T00:00:00Z");
  return { limit: rateLimit(perMinute, () => new Date(at)), pass: (ms: number) => at += ms };
}

Deno.test("rateLimit() refuses a request over the limit, with the time to wait", () => {
  const { limit, pass } = limited(2);
  limit.check("203.0.113.7");
  pass(20_000);
  limit.check("203.0.113.7");
  throws(() => limit.check("203.0.113.7"), (error) => {
    return error instanceof ThrottledError && error.retryAfterS === 40;
  });
  pass(40_000);
  limit.check("203.0.113.7");
});

Deno.test("rateLimit() counts each address separately", () => {
  const { limit } = limited(1);
  limit.check("203.0.113.7");
  limit.check("203.0.113.8");
  throws(() => limit.check("203.0.113.7"), ThrottledError);
});

Deno.test("rateLimit() counts an IPv6 /64 as one", () => {
  const { limit } = limited(1);
  limit.check("2001:db8:0:1::7");
  throws(() => limit.check("2001:db8:0:1:aaaa:bbbb:cccc:dddd"), ThrottledError);
  limit.check("2001:db8:0:2::7");
  limit.check("::1");
});

Deno.test("rateLimit() with 0 allows everything", () => {
  const { limit } = limited(0);
  for (let n = 0; n < 10_000; n++) limit.check("203.0.113.7");
  equal(limit.size, 0);
});

Deno.test("rateLimit() stores a limited number of addresses", () => {
  const { limit } = limited(10);
  for (let n = 0; n < 60_000; n++) limit.check(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  equal(limit.size, 50_000);
});
