import { equal } from "node:assert/strict";
import { userName } from "../../ui/parts/user_name.ts";

const ADA = { value: "218af9a8", name: "ada@example.com" };

for (
  const { of, id, host, shown } of [
    { of: "a user", id: "218af9a8", host: undefined, shown: "ada@example.com" },
    { of: "the API key", id: "key", host: undefined, shown: "API key" },
    { of: "a deleted user", id: "0b5d1c2e", host: undefined, shown: "0b5d1c2e" },
    {
      of: "a user of the hub on the page of a host",
      id: "hub/UVopy_k-L/218af9a8",
      host: "edge-7",
      shown: "ada@example.com",
    },
    { of: "the hub's API key", id: "hub/UVopy/key", host: "edge-7", shown: "API key" },
    { of: "a user of another hub", id: "hub/UVopy/1", host: "edge-7", shown: "User of the hub" },
    { of: "a user of the hub", id: "hub/UVopy/key", host: undefined, shown: "User of the hub" },
  ]
) {
  Deno.test(`userName() of ${of} is ${shown}`, () => equal(userName([ADA], id, host), shown));
}
