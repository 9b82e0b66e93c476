import { deepEqual, equal, ok, throws } from "node:assert/strict";
import {
  ConfigError,
  configWarnings,
  describeConfig,
  type Env,
  readConfig,
  type Surroundings,
  unknownVariables,
} from "../../../services/config/config.ts";
import { withoutCredentials } from "../../../services/text/redact.ts";

const surroundings: Surroundings = {
  hostname: "dock-1",
  terminal: false,
  packed: false,
  readTextFile: (path) => {
    if (path === "/run/secrets/api-key") return "from-a-file-0123456789\n";
    throw new Deno.errors.NotFound(`No such file: ${path}`);
  },
};

const read = (env: Env) => readConfig(env, surroundings);

const LOCAL = { HOST: "127.0.0.1" };

Deno.test("readConfig() has a default for everything", () => {
  const config = read({});
  equal(config.host, "0.0.0.0");
  equal(config.port, 3000);
  equal(config.serverName, "dock-1");
  equal(config.dataDir, "./data");
  equal(config.authMode, null);
  equal(config.apiKey, null);
  equal(config.rateLimitPerMinute, 600);
  equal(config.maxSseClients, 10_000);
  equal(config.logFormat, "json");
});

Deno.test("readConfig() takes systemd's state directory, the first of several", () => {
  equal(
    read({ STATE_DIRECTORY: "/var/lib/longshore:/var/lib/other" }).dataDir,
    "/var/lib/longshore",
  );
  equal(read({ STATE_DIRECTORY: "/var/lib/longshore", DATA_DIR: "/data" }).dataDir, "/data");
});

Deno.test("readConfig() takes an empty variable for unset", () => {
  equal(read({ PORT: "", API_KEY: " " }).port, 3000);
});

Deno.test("readConfig() reads a secret from the file that NAME_FILE names", () => {
  equal(read({ API_KEY_FILE: "/run/secrets/api-key" }).apiKey, "from-a-file-0123456789");
});

Deno.test("readConfig() reads lists", () => {
  const config = read({
    ENDPOINTS: "Shop|https://shop.example/health|204, https://bare.example:8443/x",
    SSL_DOMAINS: "example.com, Mail.example.com:465",
    TRUSTED_PROXIES: "10.0.0.0/8, ::1",
    EXEC_ALLOWLIST: "ps aux; ls *",
  });
  deepEqual(config.endpoints, [
    { name: "Shop", url: "https://shop.example/health", expectedStatus: 204 },
    { name: "bare.example:8443", url: "https://bare.example:8443/x", expectedStatus: 200 },
  ]);
  deepEqual(config.sslDomains, [
    { domain: "example.com", port: 443 },
    { domain: "mail.example.com", port: 465 },
  ]);
  deepEqual(config.trustedProxies, ["10.0.0.0/8", "::1"]);
  deepEqual(config.execAllowlist, ["ps aux", "ls *"]);
});

const refused: { env: Env; message: string }[] = [
  { env: { PORT: "70000" }, message: "PORT=70000 must be a whole number from 0 to 65535" },
  { env: { PORT: "80a" }, message: "PORT=80a must be a whole number from 0 to 65535" },
  { env: { AUTH_MODE: "none" }, message: "AUTH_MODE=none must be one of key, users" },
  ...["Status", "a@b, c@d", "Status <a@b", "A <a@b> <c@d>", "a b@c"].map((from) => ({
    env: { SMTP_FROM: from },
    message: `SMTP_FROM=${from} must be a mail address, or a name with one as in ` +
      "Status <status@example.com>",
  })),
  ...[
    ...["http://10.0.0.1:2375", "ssh://host", "unix://relative", "tcp://", "tcp://host:0"],
    ...["tcp://host:65536", "tcp://host:2375/base", "tcp://user@host", "tcp://fd00::1:2375"],
    ...["tcp://host:2375?a", "tcp://a b", "tcp://[fe80::1%eth0]:2375"],
  ].map((address) => ({
    env: { DOCKER_HOST: address },
    message:
      `DOCKER_HOST=${
        withoutCredentials(address)
      } must be a Unix socket as unix:///path, or a TCP address as ` +
      "tcp://host:port",
  })),
  {
    env: { JWT_SECRET: "changeme" },
    message: "JWT_SECRET must have at least 32 bytes, but has 8",
  },
  {
    env: { TRUSTED_PROXIES: "10.0.0.0/8,1abc.2.3.4/24" },
    message:
      'TRUSTED_PROXIES=10.0.0.0/8,1abc.2.3.4/24 has "1abc.2.3.4/24", which is not an address or network such as 10.0.0.0/8',
  },
  {
    env: { CORS_ORIGINS: "https://a.example/" },
    message:
      'CORS_ORIGINS=https://a.example/ has "https://a.example/", which is not an origin such as https://host:port',
  },
  {
    env: { ENDPOINTS: "Shop|ftp://shop.example" },
    message:
      'ENDPOINTS=Shop|ftp://shop.example has "Shop|ftp://shop.example", which is not Name|URL|ExpectedStatus',
  },
  {
    env: { TLS_CERT_FILE: "/cert.pem" },
    message: "TLS_CERT_FILE and TLS_KEY_FILE must be set together",
  },
  {
    env: { API_KEY_FILE: "/missing" },
    message: "API_KEY_FILE=/missing cannot be read: it does not exist",
  },
  {
    env: { API_KEY: "0123456789abcdef", API_KEY_FILE: "/run/secrets/api-key" },
    message: "API_KEY and API_KEY_FILE are both set; keep one",
  },
];

for (const { env, message } of refused) {
  Deno.test(`readConfig() refuses ${Object.keys(env).join(" with ")}: ${message}`, () => {
    throws(() => read(env), (error) => error instanceof ConfigError && error.message === message);
  });
}

Deno.test("readConfig() ignores LICENSE_KEYS_FILE in the compiled executable", () => {
  const env = { LICENSE_KEYS_FILE: "/tmp/keys.json" };
  equal(read(env).licenseKeysFile, "/tmp/keys.json");
  equal(readConfig(env, { ...surroundings, packed: true }).licenseKeysFile, null);
});

Deno.test("configWarnings() names the secrets that can be guessed", () => {
  deepEqual(configWarnings(read({ ...LOCAL, API_KEY: "short", SECRET_KEY: "0123456789abcdef" })), [
    "API_KEY has less than 16 characters and can be guessed",
  ]);
  deepEqual(configWarnings(read(LOCAL)), []);
});

Deno.test("plain HTTP on other than the loopback address is a warning", () => {
  const tls = { TLS_CERT_FILE: "cert.pem", TLS_KEY_FILE: "key.pem" };
  for (const env of [{ HOST: "127.0.0.9" }, { HOST: "localhost" }, { HOST: "::1" }, tls]) {
    deepEqual(configWarnings(read(env)), []);
  }
  for (const host of ["0.0.0.0", "::", "192.0.2.7", "localhost.example.com", "127.example.com"]) {
    const warnings = configWarnings(read({ HOST: host }));
    equal(warnings.length, 1);
    ok(warnings[0]!.startsWith(`plain HTTP on ${host}: `));
  }
});

Deno.test("unknownVariables() names what nothing reads, and what may be meant", () => {
  deepEqual(
    unknownVariables({
      PORT: "1",
      API_KEY_FILE: "/key",
      TZ: "UTC",
      NODE_EXTRA_CA_CERTS: "/ca",
      API_KEYS: "x",
      DOCKER_HOSTS: "x",
      PORT_FILE: "/port",
      SOMETHING_ELSE: "x",
    }),
    [
      "unknown variable API_KEYS, did you mean API_KEY?",
      "unknown variable DOCKER_HOSTS, did you mean DOCKER_HOST?",
      "unknown variable PORT_FILE, did you mean PORT?",
      "unknown variable SOMETHING_ELSE",
    ],
  );
});

Deno.test("withoutCredentials() leaves nothing of a password, whatever is in it", () => {
  for (
    const [text, expected] of [
      ["https://me:p@ss@host/x", "https://********@host/x"],
      ["https://me:p@ss@host", "https://********@host"],
      ["https://me@host/a@b?c=@d", "https://********@host/a@b?c=@d"],
      ["https://host/a@b", "https://host/a@b"],
      ["https://me:pa/ss@host/x", "https://********"],
      ["A|https://me:p@s@one/x|200,B|https://two/", "A|https://********@one/x|200,B|https://two/"],
      ["https://u:p@one,https://v:q@two", "https://********@one,https://********@two"],
      ["https://me:p|ss@host/x", "https://********"],
      ["https://me:p ss@host/x", "https://********"],
      ['https://me:p"ss@host/x', "https://********@host/x"],
      ["A|https://me:beginning", "A|https://********"],
    ] as const
  ) {
    equal(withoutCredentials(text), expected);
  }
});

Deno.test("describeConfig() shows what is set and redacts secrets", () => {
  const rows = describeConfig({ PORT: "8080", API_KEY: "0123456789abcdef" }, surroundings);
  const row = (name: string) => rows.find((each) => each.name === name)!;
  deepEqual([row("PORT").value, row("PORT").default, row("PORT").set], ["8080", "3000", true]);
  equal(row("API_KEY").value, "********");
  equal(row("JWT_SECRET").default, "made, DATA_DIR/jwt.secret");
});

Deno.test("describeConfig() and refusals show no credentials of an address", () => {
  const row = describeConfig({ ENDPOINTS: "A|https://me:hunter2@shop.example/x" }, surroundings)
    .find(({ name }) => name === "ENDPOINTS")!;
  equal(row.value, "A|https://********@shop.example/x");
  for (
    const password of [
      "hunter2",
      "hun@ter2",
      "hun,ter2",
      "123,ter2",
      "hun/ter2",
      "hun|ter2",
      'hun"ter2',
    ]
  ) {
    const text = `A|https://me:${password}@shop.example/x|9`;
    throws(() => read({ ENDPOINTS: text }), (error) => {
      return error instanceof ConfigError && !/hun|ter2/.test(error.message);
    });
  }
});
