/**
 * An engine that crashes with all of its containers is one message, and its return is another one.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { fakeReceiver } from "../helpers/fake_receiver.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, ownEngineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const CONTAINERS = 6;

long(ownEngineTest)(
  `an engine that is killed with ${CONTAINERS} containers is one message, and one when it is back`,
  async (engine) => {
    await using receiver = fakeReceiver(() => Response.json({ id: 1 }));
    await using program = await startLongshore({
      engineSocket: engine.socketPath,
      env: { OUTBOUND_ALLOW: "127.0.0.0/8" },
    });
    await Promise.all(Array.from({ length: CONTAINERS }, () =>
      engine.docker(
        ...["run", "--detach", "--restart=always", "--network=none", BUSYBOX, "sleep", "1d"],
      )));
    const running = async () => {
      const { body } = await program.call("GET", "/api/containers");
      return body.containers?.filter(({ state }: { state: string }) => state === "running").length;
    };
    await until("all containers are known", async () => await running() === CONTAINERS);
    const { status, body: channel } = await program.call("POST", "/api/notifications/channels", {
      name: "On-call",
      kind: "gotify",
      config: { url: receiver.url, token: "t" },
    });
    equal(status, 201, JSON.stringify(channel));
    const messages = () => receiver.received.map(({ body }) => JSON.parse(body));

    await engine.kill();
    await until("the outage is reported", () => receiver.received.length > 0);
    match(messages()[0].message, new RegExp(`${CONTAINERS}`));
    await engine.restart();
    await until("the return is reported", () => receiver.received.length > 1);
    await until("all containers run again", async () => await running() === CONTAINERS);
    // Messages of a channel keep their order, so that this one follows all that were due.
    await program.call("POST", `/api/notifications/channels/${channel.id}/test`);
    await until("the test has arrived", () => receiver.received.length > 2);
    deepEqual(messages().map(({ title }) => title.replace(/^.*?: /, "")), [
      "Container engine down",
      "Container engine up",
      "Test: messages arrive",
    ]);
  },
);
