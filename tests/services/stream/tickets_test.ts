import { deepEqual, equal, match, notEqual, throws } from "node:assert/strict";
import type { Session } from "../../../services/access/accounts.ts";
import { createTickets } from "../../../services/stream/tickets.ts";
import { testClock } from "../../helpers/test_app.ts";

const session = { userId: "u1", familyId: "f1" };

Deno.test("a ticket is good once", () => {
  const tickets = createTickets<Session>(testClock().now);
  const ticket = tickets.issue(session);
  match(ticket, /^[\w-]{43}$/);
  notEqual(tickets.issue(session), ticket);

  const { userId, familyId } = tickets.redeem(ticket)!;
  deepEqual({ userId, familyId }, session);
  equal(tickets.redeem(ticket), undefined);
});

Deno.test("a ticket is good for less than 30 seconds", () => {
  const clock = testClock();
  const tickets = createTickets<Session>(clock.now);
  const [one, two] = [tickets.issue(session), tickets.issue(session)];
  clock.advance({ ms: 29_999 });
  notEqual(tickets.redeem(one), undefined);
  clock.advance({ ms: 1 });
  equal(tickets.redeem(two), undefined);
});

Deno.test("an unknown ticket has no caller", () => {
  const tickets = createTickets<Session>(testClock().now);
  for (const ticket of ["", "x", "A".repeat(43), "__proto__"]) {
    equal(tickets.redeem(ticket), undefined);
  }
});

Deno.test("unused tickets have a bound and are forgotten when their time is over", () => {
  const clock = testClock();
  const tickets = createTickets<Session>(clock.now);
  const first = tickets.issue(session);
  for (let n = 0; n < 10_000; n++) tickets.issue(session);
  // Some are dropped at once.
  equal(tickets.size, 10_000 - 100 + 1);
  equal(tickets.redeem(first), undefined, "the oldest had to go");

  clock.advance({ seconds: 30 });
  tickets.issue(session);
  equal(tickets.size, 1);
});

Deno.test("an API token has half of the unused tickets, and those that are used again", () => {
  const tickets = createTickets<Session>(testClock().now, (grant) => grant);
  const token = { ...session, apiToken: { id: "t1", name: "script", hash: "x" } };
  const issued = Array.from({ length: 5_000 }, () => tickets.issue(token));
  throws(() => tickets.issue(token), {
    code: "too_many_requests",
    message: "Share of 5000 of 10000 unused tickets reached for these logins or this API token; " +
      "close one first",
  });
  tickets.issue(session);
  tickets.redeem(issued[0]!);
  tickets.redeem(issued[1]!);
  tickets.issue(token);
});
