/** Notes at a member: each attack is refused with its reason, and changes nothing. @module */

import { deepEqual, equal } from "node:assert/strict";
import { UNLIMITED } from "../../../services/access/scope.ts";
import {
  digestOf,
  NOTE_HEADER,
  sealNote,
  type SignedNote,
} from "../../../services/fleet/notes/note.ts";
import { createNonces } from "../../../services/fleet/notes/nonces.ts";
import { exchangeOver, type PassedBody } from "../../../services/fleet/passing/exchange.ts";
import { HUB, MEMBER, type TestFleet, testFleet } from "../../helpers/fleet.ts";

const WEBHOOK = JSON.stringify({
  name: "ready",
  url: "https://example.org/hook",
  events: ["container.down"],
});

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

interface Attack {
  method?: string;
  target?: string;
  body?: string;
  /** Fields of the note before it is signed. */
  note?: Partial<SignedNote>;
  /** Changes the header after it was signed. */
  change?: (header: string) => string;
  headers?: Record<string, string>;
}

const noteOf = async (fleet: TestFleet, fields: Partial<SignedNote>): Promise<SignedNote> => ({
  hub: HUB,
  user: "u1",
  name: "Ada",
  role: "admin",
  permissions: [],
  scope: null,
  host: MEMBER,
  method: "POST",
  path: "/api/webhooks",
  digest: await digestOf(bytes(WEBHOOK)),
  stream: null,
  exp: fleet.member.clock.now().getTime() + 20_000,
  nonce: crypto.randomUUID(),
  ...fields,
});

/** Sends a request as a hub would. @returns The status and the code of the refusal. */
async function attack(
  fleet: TestFleet,
  { method = "POST", target = "/api/webhooks", body = WEBHOOK, note, change, headers }: Attack = {},
): Promise<[status: number, code: string | undefined]> {
  const sealed = await sealNote(fleet.sign, await noteOf(fleet, note ?? {}));
  const stream = fleet.stream();
  const sent: PassedBody | null = method === "GET" ? null : { bytes: bytes(body) };
  const { head, body: answer } = await exchangeOver(stream, {
    ...{ method, target, body: sent },
    headers: {
      "content-type": "application/json",
      [NOTE_HEADER]: change ? change(sealed) : sealed,
      ...headers,
    },
  }, () => stream.close());
  const text = answer ? await new Response(answer).text() : "{}";
  return [head.status, JSON.parse(text).code];
}

/** The header with another content under the same signature. */
const rewritten = (change: (fields: unknown[]) => void) => (header: string): string => {
  const [content = "", signature] = header.split(".");
  const options = { alphabet: "base64url", omitPadding: true } as const;
  const fields = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(content, options)));
  change(fields);
  return `${bytes(JSON.stringify(fields)).toBase64(options)}.${signature}`;
};

const webhooksAt = async ({ member }: TestFleet) =>
  (await member.call("GET", "/api/webhooks")).body.webhooks.length;

const now = (fleet: TestFleet) => fleet.member.clock.now().getTime();

Deno.test("a note as the hub signs it is accepted once", async () => {
  await using fleet = await testFleet();
  equal((await attack(fleet, { note: { nonce: "n1" } }))[0], 201);
  deepEqual(await attack(fleet, { note: { nonce: "n1" } }), [401, "replayed"]);
  equal(await webhooksAt(fleet), 1);
});

const ATTACKS: Record<string, [code: string, attack: (fleet: TestFleet) => Attack]> = {
  "no note": ["malformed", () => ({ change: () => "" })],
  "a note of garbage": ["malformed", () => ({ change: () => "e30.e30" })],
  "another host in a signed note": ["other_host", () => ({ note: { host: "another member" } })],
  "another host after the signature": [
    "signature",
    () => ({ change: rewritten((fields) => fields[6] = MEMBER + "x") }),
  ],
  "a higher role after the signature": [
    "signature",
    () => ({ note: { role: "viewer" }, change: rewritten((fields) => fields[3] = "admin") }),
  ],
  "a wider scope after the signature": [
    "signature",
    () => ({
      note: { scope: { ...UNLIMITED, permissions: [] } },
      change: rewritten((fields) => fields[5] = null),
    }),
  ],
  "another path": ["other_path", () => ({ target: "/api/schedules" })],
  "another query": ["other_path", () => ({ target: "/api/webhooks?a=b" })],
  "a path outside of the API": ["other_path", () => ({ target: "/auth/users" })],
  "another method": ["other_method", () => ({ method: "PUT" })],
  "another body": ["other_body", () => ({ body: WEBHOOK.replace("ready", "other") })],
  "no body": ["other_body", () => ({ body: "" })],
  "a body of more than 1 MiB": ["other_body", () => ({ body: WEBHOOK.padEnd(1024 * 1024 + 1) })],
  "another stream": ["other_stream", () => ({ note: { digest: null, stream: "999" } })],
  "another stream with its id in a header": [
    "other_stream",
    () => ({ note: { digest: null, stream: "999" }, headers: { "Longshore-Stream": "999" } }),
  ],
  "another hub": ["other_hub", () => ({ note: { hub: "another hub" } })],
  "an expired note": ["expired", (fleet) => ({ note: { exp: now(fleet) } })],
  "a note from the future": ["future", (fleet) => ({ note: { exp: now(fleet) + 30_001 } })],
  "a long nonce": ["malformed", () => ({ note: { nonce: "n".repeat(65) } })],
  "a role that is unknown": [
    "malformed",
    () => ({ note: { role: "owner" as unknown as SignedNote["role"] } }),
  ],
};

Deno.test("every attack on a note is refused with its reason", async () => {
  await using fleet = await testFleet();
  for (const [name, [code, of]] of Object.entries(ATTACKS)) {
    deepEqual([name, ...await attack(fleet, of(fleet))], [name, 401, code]);
  }
  equal(await webhooksAt(fleet), 0);
});

Deno.test("methods that the runtime does not take as they are get 405", async () => {
  await using fleet = await testFleet();
  for (const method of ["TRACE", "get", "Post"]) {
    deepEqual(await attack(fleet, { method, note: { method } }), [405, undefined]);
  }
});

Deno.test("another key signs nothing for this hub", async () => {
  await using fleet = await testFleet();
  await using other = await testFleet();
  fleet.sign = other.sign;
  deepEqual(await attack(fleet), [401, "signature"]);
});

Deno.test("notes count on the private socket only", async () => {
  await using fleet = await testFleet();
  const note = await sealNote(fleet.sign, await noteOf(fleet, {}));
  const headers = { [NOTE_HEADER]: note, "content-type": "application/json" };
  const options = { role: "public", headers } as const;
  const { status } = await fleet.member.call("POST", "/api/webhooks", WEBHOOK, options);
  equal(status, 401);
});

Deno.test("a member that has left its hub refuses everything", async () => {
  await using fleet = await testFleet();
  fleet.member.deps.passing.member = () => undefined;
  deepEqual(await attack(fleet), [401, "missing"]);
});

Deno.test("nonces are kept for a minute, and no more than the limit", () => {
  let at = 0;
  const nonces = createNonces(() => at, 2);
  equal(nonces.accept("a"), "accepted");
  equal(nonces.accept("b"), "accepted");
  equal(nonces.accept("c"), "busy");
  at = 59_999;
  equal(nonces.accept("a"), "replayed");
  at = 60_000;
  equal(nonces.accept("c"), "accepted");
});
