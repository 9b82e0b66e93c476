/**
 * A link that ends at each of its messages, as after `kill -9` of the hub or the member: no request runs
 * twice, and nothing waits for an answer that cannot come.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { connectUntil } from "../../helpers/cut_link.ts";
import { type TestFleet, testFleet } from "../../helpers/fleet.ts";
import { until } from "../../helpers/until.ts";

const namesAt = async ({ member }: TestFleet): Promise<string[]> => {
  const { body } = await member.call("GET", "/api/webhooks");
  return body.webhooks.map(({ name }: { name: string }) => name);
};

Deno.test("a request over a link that is lost at any message runs at most once, and is answered", async () => {
  await using fleet = await testFleet();
  const outcomes = new Set<string>();
  let isCut = true;
  for (let last = 0; isCut; last++) {
    const { link, isCut: wasCut } = await connectUntil(fleet, last);
    const name = `hook ${last}`;
    const answer = await fleet.pass("POST", "/api/webhooks", {
      ...{ name, url: "https://example.org/hook", events: ["container.down"] },
    });
    const body = await answer.text().catch(() => undefined);
    isCut = wasCut();
    link.close("the next one");
    await link.closed;
    const runs = (await namesAt(fleet)).filter((each) => each === name).length;
    const isDone = answer.status === 201 && body !== undefined;
    if (isDone) equal(runs, 1, `message ${last}`);
    equal(runs <= 1 && [201, 502, 503].includes(answer.status), true, `message ${last}`);
    outcomes.add(`${isDone ? "answered" : "lost"} after ${runs}`);
    const { body: { webhooks } } = await fleet.member.call("GET", "/api/webhooks");
    for (const { id } of webhooks) await fleet.member.call("DELETE", `/api/webhooks/${id}`);
  }
  deepEqual([...outcomes].sort(), ["answered after 1", "lost after 0", "lost after 1"]);
  equal(fleet.hub.deps.passing.passages.size, 0);
});

Deno.test("an event stream over a link that is lost at any message ends", async () => {
  await using fleet = await testFleet();
  let isCut = true;
  for (let last = 0; isCut; last++) {
    const { link, isCut: wasCut } = await connectUntil(fleet, last);
    const { status, body } = await fleet.pass("GET", "/api/stream");
    equal(status === 200 || wasCut(), true, `message ${last}: ${status}`);
    const reader = body!.getReader();
    await reader.read().catch(() => {});
    isCut = wasCut();
    link.close("the next one");
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await rest().catch(() => {});
  }
  equal(fleet.hub.deps.passing.passages.size, 0);
  await until("the host has ended them", () => fleet.member.deps.stream.count === 0);
});
