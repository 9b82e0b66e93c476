import { doesNotThrow, equal, ok, throws } from "node:assert/strict";
import { ThrottledError } from "../../../../services/errors.ts";
import {
  createLoginThrottle,
  type LoginThrottle,
} from "../../../../services/access/sign_in/login_throttle.ts";
import { testClock } from "../../../helpers/test_app.ts";

const ADA = "ada@example.com";

function fail(throttle: LoginThrottle, times: number, address: string, account?: string): void {
  for (let n = 0; n < times; n++) throttle.begin(address, account);
}

Deno.test("the eleventh try of an address within a minute is refused, whatever the account", () => {
  const clock = testClock();
  const throttle = createLoginThrottle(clock.now);
  for (let n = 0; n < 10; n++) throttle.begin("192.0.2.1", `user${n}@example.com`);

  throws(() => throttle.begin("192.0.2.1", ADA), ThrottledError);
  throws(() => throttle.begin("192.0.2.1"), ThrottledError);
  doesNotThrow(() => throttle.begin("192.0.2.2", ADA));
});

Deno.test("the eleventh try of an account within a minute is refused, whatever the address", () => {
  const throttle = createLoginThrottle(testClock().now);
  for (let n = 0; n < 10; n++) throttle.begin(`192.0.2.${n}`, ADA);

  throws(() => throttle.begin("198.51.100.1", ADA), ThrottledError);
  doesNotThrow(() => throttle.begin("198.51.100.1", "bob@example.com"));
});

Deno.test("Retry-After tells exactly when the oldest failure is a minute old", () => {
  const clock = testClock();
  const throttle = createLoginThrottle(clock.now);
  throttle.begin("192.0.2.1");
  clock.advance({ seconds: 20 });
  fail(throttle, 9, "192.0.2.1");

  throws(() => throttle.begin("192.0.2.1"), { retryAfterS: 40 });
  clock.advance({ seconds: 39, ms: 999 });
  throws(() => throttle.begin("192.0.2.1"), { retryAfterS: 1 });
  clock.advance({ ms: 1 });
  throttle.begin("192.0.2.1");
  throws(() => throttle.begin("192.0.2.1"), { retryAfterS: 20 });
});

Deno.test("a refused try does not lengthen the wait", () => {
  const clock = testClock();
  const throttle = createLoginThrottle(clock.now);
  fail(throttle, 10, "192.0.2.1", ADA);
  for (let n = 0; n < 59; n++) {
    clock.advance({ seconds: 1 });
    throws(() => throttle.begin("192.0.2.1", ADA), ThrottledError);
  }
  clock.advance({ seconds: 1 });
  doesNotThrow(() => throttle.begin("192.0.2.1", ADA));
});

Deno.test("a success takes back its own try only", () => {
  const throttle = createLoginThrottle(testClock().now);
  fail(throttle, 9, "192.0.2.1", ADA);
  throttle.begin("192.0.2.1", "mine@example.com").succeeded();

  throttle.begin("192.0.2.1", ADA);
  throws(() => throttle.begin("192.0.2.1", ADA), ThrottledError);
});

Deno.test("tries that succeed never add up", () => {
  const throttle = createLoginThrottle(testClock().now);
  for (let n = 0; n < 100; n++) throttle.begin("192.0.2.1", ADA).succeeded();
  equal(throttle.size, 0);
});

Deno.test("failures from elsewhere do not hold back an address that lately got in", () => {
  const throttle = createLoginThrottle(testClock().now);
  throttle.remember("192.0.2.1", ADA);
  for (let n = 0; n < 10; n++) throttle.begin(`198.51.100.${n}`, ADA);

  throws(() => throttle.begin("203.0.113.1", ADA), ThrottledError);
  doesNotThrow(() => throttle.begin("192.0.2.1", ADA).succeeded());
  fail(throttle, 10, "192.0.2.1", ADA);
  throws(() => throttle.begin("192.0.2.1", ADA), ThrottledError, "its own failures count");
});

Deno.test("all addresses of an IPv6 /64 count as one", () => {
  const throttle = createLoginThrottle(testClock().now);
  for (let n = 0; n < 10; n++) throttle.begin(`2001:db8::${n}`, `u${n}@example.com`);
  throws(() => throttle.begin("2001:db8:0:0:ffff::1"), ThrottledError);
  doesNotThrow(() => throttle.begin("2001:db8:0:1::1"));
});

Deno.test("the memory has a bound, and quiet addresses are forgotten", () => {
  const clock = testClock();
  const throttle = createLoginThrottle(clock.now);
  for (let n = 0; n < 60_000; n++) throttle.begin(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  equal(throttle.size, 50_000);
  for (let n = 0; n < 11_000; n++) throttle.remember("192.0.2.1", `${n}@example.com`);
  equal(throttle.size, 60_000);

  clock.advance({ minutes: 1 });
  throttle.begin("192.0.2.1");
  ok(throttle.size <= 10_001);
});
