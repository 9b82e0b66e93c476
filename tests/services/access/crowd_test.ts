import { deepEqual, equal } from "node:assert/strict";
import { mostCrowded } from "../../../services/access/crowd.ts";
import { createTickets } from "../../../services/stream/tickets.ts";
import { testClock } from "../../helpers/test_app.ts";

Deno.test("a network that has the most loses its own, and in it the client that has the most", () => {
  const flood = Array.from({ length: 6 }, (_, n) => [`f${n}`, `2001:db8:1:${n}::/64`] as const);
  const entries = [
    ["victim", "198.51.100.7"] as const,
    ["neighbour", "2001:db8:1:aa::/64"] as const,
    ...flood,
    ["f6", "2001:db8:1:5::/64"] as const,
    ["user", "5f0c7c0a-8f43-4a3c-9c69-7e2f3f6d1c11"] as const,
  ];
  // The client with two entries first, then the oldest ones of the network.
  deepEqual(mostCrowded(entries, 1), ["f5"]);
  equal(mostCrowded(entries, 7).some((key) => key === "victim" || key === "user"), false);
});

Deno.test("a client alone keeps its ticket through a flood from many addresses of a network", () => {
  const tickets = createTickets<string>(testClock().now);
  const own = tickets.issue("own", "198.51.100.7");
  for (let n = 0; n < 12_000; n++) tickets.issue("flood", `2001:db8:1:${n.toString(16)}::/64`);
  equal(tickets.size <= 10_000, true, `${tickets.size}`);
  equal(tickets.redeem(own), "own");
});
