import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import {
  acceptAnswer,
  answerRequest,
  createRequest,
  parseAnswer,
  parseRequest,
} from "../../../../services/fleet/enrolment/files.ts";
import { linkKeys, toText } from "../../../../services/fleet/enrolment/keys.ts";
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
  deepEqual(await answerRequest(hub.deps, request, GIVEN), answer);
  await rejects(createRequest(member.deps, AS), /is in the fleet of/);
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

for (
  const text of ["", "{", "[]", "{}", carried({ longshoreJoinRequest: 2 }), "null", '"x"']
) {
  Deno.test(`parseRequest() and parseAnswer() refuse ${text || "an empty file"}`, () => {
    throws(() => parseRequest(text), { code: "invalid", message: /not a join request/ });
    throws(() => parseAnswer(text), { code: "invalid", message: /not an answer/ });
  });
}
