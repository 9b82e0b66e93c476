import { deepEqual } from "node:assert/strict";
import type { Container } from "../../../../services/containers/inventory.ts";
import { describeElsewhere, findElsewhere } from "../../../../services/updates/data/elsewhere.ts";

function container(name: string, env: Record<string, string> = {}, network = "shop"): Container {
  const attachment = { name: network, aliases: [`${name}-alias`], ipv4: "172.18.0.9", ipv6: "" };
  return {
    id: name,
    name,
    composeProject: null,
    composeService: null,
    details: {
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
      networkSettings: [attachment],
    },
  } as unknown as Container;
}

const found = (env: Record<string, string>, others: Container[] = []) => {
  const web = container("web", env);
  return findElsewhere([web], [web, ...others])
    .map(({ variable, host, leadsTo }) => `${variable} ${host} ${leadsTo}`);
};

Deno.test("findElsewhere() names what leads to data of others, and no secrets", () => {
  deepEqual(
    found({
      DATABASE_URL: "postgres://shop:p%40ss@word@db.example.org:5432/shop?sslmode=require",
      MONGO: "mongodb://u:p@m1:27017,m2:27017/x",
      JDBC_URL: "jdbc:sqlserver://sql.example.org:1433;password=x",
      DSN: "user:secret@tcp(my.example.org:3306)/shop",
      PG: "host=pg.example.org password=secret dbname=shop",
      REDIS_HOST: "cache.example.org:6379",
      S3_ENDPOINT: "https://s3.example.org",
      V6: "redis://[fd00::1]:6379",
    }),
    [
      "DATABASE_URL db.example.org null",
      "MONGO m1 null",
      "MONGO m2 null",
      "JDBC_URL sql.example.org null",
      "DSN my.example.org null",
      "PG pg.example.org null",
      "REDIS_HOST cache.example.org null",
      "S3_ENDPOINT s3.example.org null",
      "V6 fd00::1 null",
    ],
  );
});

Deno.test("findElsewhere() leaves out links, mail and the container itself", () => {
  deepEqual(
    found({
      PUBLIC_URL: "https://shop.example.org",
      VIRTUAL_HOST: "shop.example.org",
      SMTP_URL: "smtp://mail.example.org",
      LISTEN_ADDR: "0.0.0.0:8080",
      DB_HOST: "localhost",
      REDIS_URL: "redis://127.0.0.1:6379",
      DB_FILE: "sqlite:///data/shop.db",
      DB_ADDR: "web-alias:1",
      NOT_A_HOST: "a b://c d",
    }),
    [],
  );
});

Deno.test("findElsewhere() names the container of an address on the same network", () => {
  const others = [container("db"), container("far", {}, "other")];
  deepEqual(found({ UPSTREAM: "http://db-alias:80", FAR: "http://far-alias" }, others), [
    "UPSTREAM db-alias db",
  ]);
  const each = { container: "web", variable: "UPSTREAM", host: "db-alias", leadsTo: "db" };
  deepEqual(
    describeElsewhere(each),
    "Data at db-alias (db), to which UPSTREAM of web leads, is not brought back",
  );
});

Deno.test("findElsewhere() takes little time for hostile values", () => {
  const env = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, at) => [`DB_${at}_URL`, `x://${"a,".repeat(50_000)}`]),
  );
  deepEqual(found(env).length, 50);
});
