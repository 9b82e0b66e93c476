import { deepEqual, equal, throws } from "node:assert/strict";
import {
  parseDuration,
  parseSize,
  printDuration,
  splitWords,
} from "../../../../services/compose/load/values.ts";
import { parsePorts } from "../../../../services/compose/load/ports.ts";
import { parseMount } from "../../../../services/compose/load/mounts.ts";

Deno.test("durations are printed like those of Go", () => {
  const printed = (text: string) => printDuration(parseDuration(text));

  deepEqual(
    ["90s", "1h", "1.5s", "500ms", "1m30s", "2h45m", "0", "10us", "1d", "100ns"].map(printed),
    ["1m30s", "1h0m0s", "1.5s", "500ms", "1m30s", "2h45m0s", "0s", "10µs", "24h0m0s", "100ns"],
  );
  for (const wrong of ["", "10", "1y", "-1s", "1s ", "1e9h", "9999999999999h"]) {
    throws(() => parseDuration(wrong), wrong);
  }
});

Deno.test("sizes have units of 1024", () => {
  deepEqual(
    ["512m", "1g", "64M", "2gb", "1.5k", "100", "1KiB", "10 kB"].map(parseSize),
    [536870912, 1073741824, 67108864, 2147483648, 1536, 100, 1024, 10240],
  );
  for (const wrong of ["", "m", "1x", "-1", "1e3", "9999999999t"]) {
    throws(() => parseSize(wrong), wrong);
  }
});

Deno.test("splitWords() splits like a shell", () => {
  deepEqual(splitWords(`sh -c 'a "b"' "c\\"d" e\\ f '' g"h"'i'`), [
    "sh",
    "-c",
    'a "b"',
    'c"d',
    "e f",
    "",
    "ghi",
  ]);
  deepEqual(splitWords("  a\\\n  b "), ["a", "b"]);
});

Deno.test("parsePorts() reads addresses of both families", () => {
  const [ipv6] = parsePorts("[::1]:80:81/udp");

  deepEqual(ipv6, {
    mode: "ingress",
    host_ip: "::1",
    target: 81,
    published: "80",
    protocol: "udp",
  });
  equal(parsePorts("::1:80:81")[0]!.host_ip, "::1");
  equal(parsePorts("127.0.0.1::53")[0]!.published, undefined);
  throws(() => parsePorts("example.org:80:80"));
  throws(() => parsePorts("80/icmp"));
});

Deno.test("parseMount() reads Windows paths", () => {
  deepEqual(parseMount("C:\\data:D:\\mnt:ro"), {
    type: "bind",
    source: "C:\\data",
    target: "D:\\mnt",
    bind: { create_host_path: true },
    read_only: true,
  });
});
