import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { AppError } from "../../../services/errors.ts";
import { OutboundError } from "../../../services/outbound/error.ts";
import {
  assertOutboundHost,
  assertOutboundUrl,
  type OutboundReach,
  resolveOutbound,
} from "../../../services/outbound/url.ts";
import { testConfig } from "../../helpers/test_app.ts";

/** Names that the resolver of these tests knows. */
const NAMES: Record<string, string[]> = {
  "example.com": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "xn--bcher-kva.example": ["93.184.215.14"],
  "loopback.example": ["127.0.0.1"],
  "private.example": ["10.1.2.3"],
  "sub.private.example": ["10.1.2.3"],
  "private6.example": ["fd12:3456::1"],
  "mapped.example": ["::ffff:192.168.1.1"],
  "mixed.example": ["93.184.215.14", "10.0.0.1"],
  "mixed6.example": ["93.184.215.14", "::1"],
  "metadata.example": ["169.254.169.254"],
  "localhost": ["127.0.0.1", "::1"],
  "sub.localhost": ["127.0.0.1"],
  "nonsense.example": ["not an address"],
  "intranet": ["172.20.0.5"],
};

function deps(outboundAllow: string[] = []) {
  return {
    config: testConfig({ outboundAllow }),
    resolve: (host: string) => {
      const found = NAMES[host];
      return found ? Promise.resolve(found) : Promise.reject(new Error("ENOTFOUND"));
    },
  };
}

async function isAccepted(url: string, reach: OutboundReach, allow: string[] = []) {
  try {
    await assertOutboundUrl(deps(allow), url, reach, "body.url");
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    equal(error.code, "invalid");
    match(error.message, /^body\.url: /);
    return false;
  }
}

// IPv4 in every notation, IPv6 in every form that reaches IPv4, names, and what readers differ on.
const REFUSED_EVERYWHERE = [
  "http://127.0.0.1/",
  "http://127.0.0.1:8080/",
  "http://127.255.255.254/",
  "http://127.1/",
  "http://127.0.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.0.0.1/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://0x7F.1/",
  "http://127.0.0.1./",
  "http://%31%32%37.0.0.1/",
  "http://\uff11\uff12\uff17.0.0.1/",
  "http://127\u30020\u30020\u30021/",
  "http://0/",
  "http://0.0.0.0/",
  "http://0.1.2.3/",
  "http://169.254.169.254/latest/meta-data/",
  "http://169.254.170.2/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://100.100.100.200/",
  "http://168.63.129.16/",
  "http://192.0.0.192/",
  "http://192.0.0.1/",
  "http://192.0.2.1/",
  "http://192.88.99.1/",
  "http://198.18.0.1/",
  "http://198.19.255.255/",
  "http://198.51.100.1/",
  "http://203.0.113.1/",
  "http://224.0.0.1/",
  "http://239.255.255.255/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  "http://[::]/",
  "http://[::1]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
  "http://[::127.0.0.1]/",
  "http://[::ffff:0:127.0.0.1]/",
  "http://[64:ff9b::127.0.0.1]/",
  "http://[64:ff9b::8.8.8.8]/",
  "http://[64:ff9b:1::1]/",
  "http://[2002:7f00:1::]/",
  "http://[2002:808:808::1]/",
  "http://[2001:0:7f00:1::]/",
  "http://[2001::1]/",
  "http://[2001:2::1]/",
  "http://[2001:10::1]/",
  "http://[2001:20::1]/",
  "http://[2001:db8::1]/",
  "http://[3fff::1]/",
  "http://[5f00::1]/",
  "http://[100::1]/",
  "http://[fe80::1]/",
  "http://[fe80::1%25eth0]/",
  "http://[fe80::1%eth0]/",
  "http://[fec0::1]/",
  "http://[ff02::1]/",
  "http://[fd00:ec2::254]/",
  "http://[fd20:ce::254]/",
  "http://[2606:4700::5efe:7f00:1]/",
  "http://[2606:4700::200:5efe:127.0.0.1]/",
  "http://[::1%25lo]/",
  "http://localhost/",
  "http://LOCALHOST:8080/",
  "http://localhost./",
  "http://sub.localhost/",
  "http://unknown.localhost/",
  "http://localhost.localdomain/",
  "http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/",
  "http://metadata/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://metadata.google.internal./",
  "http://METADATA.goog/",
  "http://instance-data/",
  "http://loopback.example/",
  "http://metadata.example/",
  "http://mixed6.example/",
  "http://nonsense.example/",
  "http://user@example.com/",
  "http://user:password@example.com/",
  "http://@example.com/",
  "http://example.com@127.0.0.1/",
  "http://127.0.0.1#@example.com/",
  "http://127.0.0.1\\@example.com/",
  "http://example.com\\@127.0.0.1/",
  "http:\\\\127.0.0.1/",
  "http:/127.0.0.1/",
  "http:127.0.0.1",
  "http:///127.0.0.1/",
  "//127.0.0.1/",
  "http://exa\tmple.com/",
  "http://example.com/\r\nX: y",
  " http://example.com/",
  "http://example.com:0/",
  "http://example.com:99999/",
  "http://1.2.3.4.5/",
  "http://256.256.256.256/",
  "ftp://example.com/",
  "file:///etc/passwd",
  "gopher://example.com/",
  "unix:///var/run/docker.sock",
  "javascript:alert(1)",
  "data:text/plain,x",
  "example.com",
  "http://",
  "",
  `https://example.com/${"x".repeat(2048)}`,
];

const PRIVATE = [
  "http://10.0.0.1/",
  "http://10.255.255.255/",
  "http://012.0.0.1/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.0.1/",
  "http://192.168.257/",
  "http://3232235777/",
  "http://100.64.0.1/",
  "http://[fd12:3456::1]/",
  "http://[fc00::1]/",
  "http://[::ffff:10.0.0.1]/",
  "http://[2606:4700::5efe:10.0.0.1]/",
  "http://private.example/",
  "http://private6.example/",
  "http://mapped.example/",
  "http://mixed.example/",
  "http://intranet/",
];

const PUBLIC = [
  "http://example.com/",
  "https://EXAMPLE.com:8443/path?query=a%20b#fragment",
  "https://b\u00fccher.example/",
  "http://93.184.215.14/",
  "http://8.8.8.8/",
  "http://11.0.0.1/",
  "http://172.15.255.255/",
  "http://172.32.0.1/",
  "http://192.167.1.1/",
  "http://192.169.1.1/",
  "http://100.63.255.255/",
  "http://100.128.0.1/",
  "http://126.255.255.255/",
  "http://128.0.0.1/",
  "http://223.255.255.255/",
  "http://[2606:4700:4700::1111]/",
  "http://[::ffff:8.8.8.8]/",
  "http://[2606:4700::5efe:8.8.8.8]/",
  "http://127.0.0.1.example.com/",
  "http://localhost.example.com/",
  "https://does-not-resolve.example/",
];

Deno.test(`${REFUSED_EVERYWHERE.length} addresses are refused for every kind of request`, async () => {
  const accepted: string[] = [];
  for (const url of REFUSED_EVERYWHERE) {
    for (const reach of ["public", "internal"] as const) {
      if (await isAccepted(url, reach)) accepted.push(`${reach} ${url}`);
    }
  }
  deepEqual(accepted, []);
});

Deno.test("private addresses are for what watches internal systems", async () => {
  const wrong: string[] = [];
  for (const url of PRIVATE) {
    if (await isAccepted(url, "public")) wrong.push(`public ${url}`);
    if (!await isAccepted(url, "internal")) wrong.push(`internal ${url}`);
  }
  deepEqual(wrong, []);
});

Deno.test("public addresses, and names without an address yet, are accepted", async () => {
  const refused: string[] = [];
  for (const url of PUBLIC) {
    for (const reach of ["public", "internal"] as const) {
      if (!await isAccepted(url, reach)) refused.push(`${reach} ${url}`);
    }
  }
  deepEqual(refused, []);
});

for (
  const { allow, passes, refused } of [
    { allow: ["127.0.0.1"], passes: ["http://127.1:9/", "http://[::ffff:7f00:1]/"], refused: [] },
    { allow: ["127.0.0.0/8"], passes: ["http://127.9.9.9/"], refused: ["http://localhost/"] },
    { allow: ["127.0.0.0/8", "::1"], passes: ["http://localhost/", "http://[::1]/"], refused: [] },
    { allow: ["localhost"], passes: ["http://LOCALHOST./"], refused: ["http://127.0.0.1/"] },
    {
      allow: ["Private.example"],
      passes: ["http://private.example/"],
      refused: ["http://10.1.2.3/", "http://sub.private.example/", "http://intranet/"],
    },
    {
      allow: ["10.0.0.0/8"],
      passes: ["http://10.9.9.9/", "http://private.example/", "http://mixed.example/"],
      refused: ["http://192.168.0.1/", "http://mapped.example/", "http://localhost/"],
    },
    {
      allow: ["::ffff:192.168.0.0/112", "fd00::/8"],
      passes: ["http://mapped.example/", "http://private6.example/", "http://192.168.7.7/"],
      refused: ["http://192.169.0.1:0/", "http://10.0.0.1/"],
    },
    {
      allow: ["169.254.169.254", "64:ff9b::/96"],
      passes: ["http://metadata.example/", "http://[64:ff9b::8.8.8.8]/"],
      refused: ["http://169.254.170.2/", "http://metadata.google.internal/"],
    },
  ]
) {
  Deno.test(`OUTBOUND_ALLOW=${allow} lets through what it names and nothing else`, async () => {
    for (const url of passes) equal(await isAccepted(url, "public", allow), true, url);
    for (const url of refused) equal(await isAccepted(url, "public", allow), false, url);
  });
}

Deno.test("a host of a TCP check is guarded like a URL's", async () => {
  await assertOutboundHost(deps(), "example.com", "internal");
  await assertOutboundHost(deps(), "10.0.0.1", "internal");
  await rejects(assertOutboundHost(deps(), "127.0.0.1", "internal"), AppError);
  await rejects(assertOutboundHost(deps(), "[::1]", "internal", "body.url"), /body\.url: /);
  await rejects(assertOutboundHost(deps(), "127.1", "internal"), AppError);
});

Deno.test("a refusal does not tell the address that an internal name has", async () => {
  await rejects(
    assertOutboundUrl(deps(), "http://intranet/", "public"),
    (error: Error) => {
      equal(error.message.includes("172.20"), false);
      match(error.message, /^url: intranet resolves to an address .* OUTBOUND_ALLOW$/);
      return true;
    },
  );
});

Deno.test("every address of a name is given once, mapped IPv4 as IPv4", async () => {
  const { signal } = new AbortController();
  const both = { ...deps(), resolve: () => Promise.resolve(["8.8.8.8", "::ffff:808:808"]) };
  deepEqual(await resolveOutbound(both, "x.example", "public", signal), ["8.8.8.8"]);
});

Deno.test("a resolver that does not answer is given up in time", async () => {
  const never = { ...deps(), resolve: () => new Promise<string[]>(() => {}) };
  const end = new AbortController();
  const waiting = resolveOutbound(never, "slow.example", "public", end.signal);
  end.abort();
  await rejects(waiting, (error) => error instanceof OutboundError && error.code === "timeout");
});
