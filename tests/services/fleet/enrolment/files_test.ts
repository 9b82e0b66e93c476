import { deepEqual, equal, notEqual, rejects, throws } from "node:assert/strict";
import {
  acceptAnswer,
  answerRequest,
  createRequest,
  parseAnswer,
  parseRequest,
} from "../../../../services/fleet/enrolment/files.ts";
import { leaveFleet } from "../../../../services/fleet/enrolment/join.ts";
import { linkKeys, toText } from "../../../../services/fleet/enrolment/keys.ts";
import { KEY_MAX_MS } from "../../../../services/fleet/enrolment/rotation.ts";
import { renewHubKey } from "../../../../services/fleet/hosts/hub_keys.ts";
import { createSecrets } from "../../../../services/secrets/secrets.ts";
import { listHosts } from "../../../../services/fleet/hosts/hosts.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const AS = { name: "edge-7", machine: "edge-7, Linux x86_64" };
const GIVEN = { address: "https://hub.example.com", labels: { site: "kiel" } };

const KEY = new Uint8Array(32).fill(9);

/** As a file is carried. */
const carried = (content: object) => JSON.stringify(content, null, 2);

const keyOf = async ({ deps }: TestApp) => toText((await linkKeys(deps)).publicKey);

Deno.test("a host joins with a request and an answer that are carried by hand", async () => {
  using hub = testApp();
  using member = testApp();
  const request = parseRequest(carried(await createRequest(member.deps, AS)));
  const answer = await answerRequest(hub.deps, request, GIVEN);
  const membership = await acceptAnswer(member.deps, parseAnswer(carried(answer)));

  const [host] = await listHosts(hub.deps, {});
  deepEqual([host!.name, host!.state, host!.labels], ["edge-7", "never", { site: "kiel" }]);
  equal(membership.hostId, host!.id);
  equal(membership.hubKey, await keyOf(hub));
  equal(request.linkKey, await keyOf(member));
  equal(membership.isPending, false);
  // The file may be lost on the way.
  const { proof: _, ...repeated } = await answerRequest(hub.deps, request, GIVEN);
  const { proof: __, ...first } = answer;
  deepEqual(repeated, first);
  await rejects(createRequest(member.deps, AS), /is in the fleet of/);
});

Deno.test("a host that left while its hub was away joins again, and knows the hub by the name in notes", async () => {
  using hub = testApp();
  using member = testApp();
  const join = async () => {
    const request = await createRequest(member.deps, AS);
    const { hostId, hubKey } = await answerRequest(hub.deps, request, GIVEN).then((answer) =>
      acceptAnswer(member.deps, answer)
    );
    equal(await hub.deps.passing.hub()!.key(hostId), hubKey);
    leaveFleet(member.deps);
    return hubKey;
  };
  const renewKey = async () => {
    hub.clock.advance({ seconds: KEY_MAX_MS / 1000 });
    await renewHubKey(hub.deps);
  };
  const first = await join();
  await renewKey();
  // The host may have got the answer to its first request after all.
  equal(await join(), first);
  for (let month = 1; month < 13; month++) await renewKey();
  equal(await join(), await keyOf(hub));
});

Deno.test("an answer is for the host whose request it answers", async () => {
  using hub = testApp();
  using member = testApp();
  using other = testApp({ secrets: createSecrets({ jwtSecret: KEY, secretKey: KEY }) });
  const answer = await answerRequest(hub.deps, await createRequest(member.deps, AS), GIVEN);
  await rejects(acceptAnswer(other.deps, answer), /is for another host/);
  const second = await createRequest(other.deps, AS);
  await rejects(answerRequest(hub.deps, second, GIVEN), /Another host has the name edge-7/);
  await rejects(createRequest(other.deps, { ...AS, name: "a/b" }), /cannot be the name/);
});

Deno.test("an answer that was changed on the way is refused", async () => {
  using hub = testApp();
  using other = testApp({ secrets: createSecrets({ jwtSecret: KEY, secretKey: KEY }) });
  using member = testApp();
  const request = await createRequest(member.deps, AS);
  const answer = await answerRequest(hub.deps, request, GIVEN);
  const ofOther = await answerRequest(other.deps, request, GIVEN);
  notEqual(ofOther.hubKey, answer.hubKey);
  for (
    const changed of [
      { hubNoteKey: ofOther.hubNoteKey },
      { hubKey: ofOther.hubKey },
      { address: "https://other.example.com" },
      { hostId: ofOther.hostId },
      { proof: ofOther.proof },
      { proof: "" },
    ]
  ) {
    await rejects(acceptAnswer(member.deps, { ...answer, ...changed }), /was changed/);
  }
  const { proof: _, ...older } = answer;
  throws(() => parseAnswer(carried(older)), {
    code: "invalid",
    message: /cannot prove its answer/,
  });
  equal((await acceptAnswer(member.deps, answer)).hubNoteKey, answer.hubNoteKey);
});

for (
  const text of ["", "{", "[]", "{}", carried({ longshoreJoinRequest: 2 }), "null", '"x"']
) {
  Deno.test(`parseRequest() and parseAnswer() refuse ${text || "an empty file"}`, () => {
    throws(() => parseRequest(text), { code: "invalid", message: /not a join request/ });
    throws(() => parseAnswer(text), { code: "invalid", message: /not an answer/ });
  });
}
