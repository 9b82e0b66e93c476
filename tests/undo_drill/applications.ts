/**
 * Applications whose new version changes their data and then fails: shell scripts that run in containers
 * of the image of `image.ts`, with their data in `/data`.
 *
 * @module
 */

export interface Application {
  name: string;
  /** Starts it and does not return; prepares empty data before. */
  start: string;
  /** Fills it. */
  seed: string;
  /** Prints all that it has, always in the same order. */
  dump: string;
  /** Changes the data as a new version would, so that the old one cannot use it. */
  migrate: string;
}

const POSTGRES = `
  PATH=/usr/lib/postgresql/15/bin:$PATH
  as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
  sql() { psql --quiet --set=ON_ERROR_STOP=1 --host=/tmp --username=postgres "$@"; }
  ready() { until pg_isready --quiet --host=/tmp; do sleep 0.1; done; }`;

const MARIADB = `
  sql() { mariadb --socket=/tmp/my.sock "$@"; }
  ready() { until mariadb-admin --socket=/tmp/my.sock ping > /dev/null 2>&1; do sleep 0.1; done; }`;

/** Program that keeps orders in a SQLite database, and refuses one of another version. */
const SHOP = `
  const { execFileSync } = require("node:child_process");
  const sql = (text) => execFileSync("sqlite3", ["/data/shop.db", text], { encoding: "utf8" });
  if (sql("PRAGMA user_version").trim() === "0") {
    sql("CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT); PRAGMA user_version = 1");
  }
  if (sql("PRAGMA user_version").trim() !== "1") throw new Error("of a newer version");
  require("node:http").createServer((request, response) => {
    if (request.method === "POST") sql("INSERT INTO orders (item) SELECT hex(randomblob(40)) FROM " +
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n)");
    response.end(sql("SELECT count(*) FROM orders"));
  }).listen(3000);`;

const FLOWS = JSON.stringify(
  Array.from({ length: 200 }, (_, at) => ({
    id: `node${at}`,
    type: at === 0 ? "tab" : "comment",
    ...(at === 0 ? { label: "Drill" } : { z: "node0", name: `Step ${at}`, x: at, y: at }),
  })),
);

const PACKAGE = JSON.stringify({
  name: "drill",
  "dist-tags": { latest: "1.0.0" },
  versions: { "1.0.0": { name: "drill", version: "1.0.0", dist: { tarball: "" } } },
  _attachments: {
    "drill-1.0.0.tgz": { content_type: "x", data: btoa("a package".repeat(1000)), length: 9000 },
  },
});

export const APPLICATIONS: readonly Application[] = [
  {
    name: "PostgreSQL",
    start: `${POSTGRES}
      [ -e /data/pg/PG_VERSION ] || {
        install -d -o postgres -g postgres -m 700 /data/pg
        as initdb --auth=trust --pgdata=/data/pg > /dev/null
      }
      exec setpriv --reuid=postgres --regid=postgres --clear-groups \
        postgres -D /data/pg -k /tmp -c listen_addresses=`,
    seed: `${POSTGRES}
      ready
      sql --command="CREATE TABLE items AS SELECT i AS id, md5(i::text) AS name
        FROM generate_series(1, 20000) AS i"`,
    dump: `${POSTGRES}
      ready
      pg_dump --host=/tmp --username=postgres postgres | grep -v '^.\\(un\\)*restrict'`,
    migrate: `${POSTGRES}
      sh -eu /opt/drill/start-PostgreSQL &
      ready
      sql --command="ALTER TABLE items RENAME name TO title; DELETE FROM items WHERE id % 2 = 0;
        UPDATE items SET title = upper(title); CREATE TABLE version2 (id int)"
      kill -INT $!
      wait $!
      echo 99 > /data/pg/PG_VERSION`,
  },
  {
    name: "MariaDB",
    start: `
      [ -e /data/my/mysql ] || {
        install -d -o mysql -g mysql /data/my
        mariadb-install-db --user=mysql --datadir=/data/my --skip-test-db > /dev/null 2>&1
      }
      exec mariadbd --user=mysql --datadir=/data/my --socket=/tmp/my.sock --pid-file=/tmp/my.pid \
        --skip-networking`,
    seed: `${MARIADB}
      ready
      sql -e "CREATE DATABASE shop; CREATE TABLE shop.items AS WITH RECURSIVE n AS
        (SELECT 1 AS id UNION ALL SELECT id + 1 FROM n WHERE id < 900)
        SELECT a.id * 1000 + b.id AS id, md5(a.id * 1000 + b.id) AS name
        FROM n AS a JOIN n AS b ON b.id <= 20"`,
    dump: `${MARIADB}
      ready
      mariadb-dump --socket=/tmp/my.sock --skip-dump-date --order-by-primary --databases shop`,
    migrate: `${MARIADB}
      sh -eu /opt/drill/start-MariaDB &
      ready
      sql -e "ALTER TABLE shop.items CHANGE name title TEXT; DELETE FROM shop.items WHERE id % 2 = 0;
        CREATE TABLE shop.version2 (id INT)"
      mariadb-admin --socket=/tmp/my.sock shutdown
      wait $!
      dd if=/dev/urandom of=/data/my/ibdata1 bs=4096 count=4 conv=notrunc 2> /dev/null`,
  },
  {
    name: "Redis",
    start: `exec redis-server --dir /data --port 6379 --bind 127.0.0.1 --appendonly yes`,
    seed: `
      until redis-cli ping > /dev/null 2>&1; do sleep 0.1; done
      seq 1 20000 | sed 's/.*/SET key:& value-of-&/' | redis-cli > /dev/null`,
    dump: `
      until [ "$(redis-cli ping 2> /dev/null)" = PONG ]; do sleep 0.1; done
      redis-cli --scan | sort > /tmp/keys
      sed 's/^/GET /' /tmp/keys | redis-cli | paste /tmp/keys -`,
    migrate: `
      sh -eu /opt/drill/start-Redis &
      until [ "$(redis-cli ping 2> /dev/null)" = PONG ]; do sleep 0.1; done
      redis-cli FLUSHALL > /dev/null
      redis-cli SET version 2 > /dev/null
      redis-cli SHUTDOWN SAVE
      wait $! || true
      printf REDIS9999 | dd of=/data/dump.rdb bs=1 conv=notrunc 2> /dev/null
      find /data/appendonlydir -type f -exec sh -c 'echo newer > "$1"' sh {} \\;`,
  },
  {
    name: "SQLite with Node.js",
    start: `exec node /opt/drill/shop.js`,
    seed: `node /opt/drill/http.mjs POST http://127.0.0.1:3000/ > /dev/null`,
    dump: `
      node /opt/drill/http.mjs GET http://127.0.0.1:3000/
      sqlite3 /data/shop.db .dump`,
    migrate: `
      sqlite3 /data/shop.db "ALTER TABLE orders RENAME TO old_orders; DELETE FROM old_orders
        WHERE id > 100; CREATE TABLE orders (id, title); PRAGMA user_version = 2; VACUUM"`,
  },
  {
    name: "Node-RED",
    start: `exec node /opt/node/node_modules/node-red/red.js --userDir /data --port 1880`,
    seed: `
      echo '${FLOWS}' > /tmp/flows.json
      node /opt/drill/http.mjs POST http://127.0.0.1:1880/flows /tmp/flows.json > /dev/null`,
    dump: `node /opt/drill/http.mjs GET http://127.0.0.1:1880/flows`,
    migrate: `
      sh -eu /opt/drill/start-Node-RED &
      echo '[{"id":"new","type":"tab","label":"Newer"}]' > /tmp/new.json
      node /opt/drill/http.mjs POST http://127.0.0.1:1880/flows /tmp/new.json > /dev/null
      kill $!
      wait $! || true
      echo '{"version":99,' > /data/flows.json
      echo 'throw new Error("of a newer version")' > /data/settings.js`,
  },
  {
    name: "Verdaccio",
    start: `
      [ -e /data/config.yaml ] || printf '%s\\n' 'storage: /data/storage' \
        'auth: {htpasswd: {file: /data/htpasswd}}' \
        'packages: {"**": {access: $all, publish: $all, unpublish: $all}}' > /data/config.yaml
      exec node /opt/node/node_modules/verdaccio/bin/verdaccio --config /data/config.yaml \
        --listen 127.0.0.1:4873`,
    seed: `
      echo '${PACKAGE}' > /tmp/package.json
      node /opt/drill/http.mjs PUT http://127.0.0.1:4873/drill /tmp/package.json > /dev/null`,
    dump: `
      node /opt/drill/http.mjs GET http://127.0.0.1:4873/drill
      node /opt/drill/http.mjs GET http://127.0.0.1:4873/drill/-/drill-1.0.0.tgz`,
    migrate: `
      mv /data/storage /data/packages
      echo 'storage: [/data/packages' > /data/config.yaml
      for file in /data/packages/drill/*; do echo newer > "$file"; done`,
  },
  {
    name: "Prometheus",
    start: `
      [ -e /data/tsdb ] || {
        awk 'BEGIN { print "# TYPE drill gauge"; for (i = 0; i < 20000; i++)
          print "drill{series=\\"" i % 20 "\\"}", i, 1700000000 + 15 * int(i / 20);
          print "# EOF" }' > /tmp/metrics
        mkdir /data/tsdb
        promtool tsdb create-blocks-from openmetrics /tmp/metrics /data/tsdb > /dev/null
      }
      echo 'scrape_configs: []' > /tmp/prometheus.yml
      exec prometheus --config.file=/tmp/prometheus.yml --storage.tsdb.path=/data/tsdb \
        --storage.tsdb.retention.time=100y --web.listen-address=127.0.0.1:9090`,
    seed: `node /opt/drill/http.mjs GET http://127.0.0.1:9090/-/ready > /dev/null`,
    dump: `
      query='query=drill&start=1700000000&end=1700014985&step=15'
      node /opt/drill/http.mjs GET http://127.0.0.1:9090/-/ready > /dev/null
      node /opt/drill/http.mjs GET "http://127.0.0.1:9090/api/v1/query_range?$query"`,
    migrate: `
      first=$(find /data/tsdb -name meta.json | sort | head -n 1)
      rm -r "$(dirname "$first")"
      find /data/tsdb -name meta.json -exec sed -i 's/"version": 1/"version": 99/' {} \\;
      rm -rf /data/tsdb/wal
      echo newer > /data/tsdb/wal`,
  },
  {
    name: "nginx with files",
    start: `
      mkdir -p /data/www
      printf '%s\\n' 'events {}' 'http { server { listen 80; root /data/www; autoindex on; } }' \
        > /tmp/nginx.conf
      exec nginx -c /tmp/nginx.conf -g 'daemon off;'`,
    seed: `
      for i in $(seq 1 500); do
        mkdir -p /data/www/$((i % 20))
        seq 1 $i > /data/www/$((i % 20))/page$i.html
      done
      ln -s 1/page1.html /data/www/index.html`,
    dump: `
      node /opt/drill/http.mjs GET http://127.0.0.1/index.html
      for i in $(seq 7 50 500); do
        node /opt/drill/http.mjs GET http://127.0.0.1/$((i % 20))/page$i.html
      done`,
    migrate: `
      find /data/www -name '*1.html' -delete
      find /data/www -name '*.html' -exec sh -c 'echo newer >> "$1"; mv "$1" "$1.new"' sh {} \\;
      chmod -R 000 /data/www`,
  },
  {
    name: "corruption on purpose",
    start: `
      [ -e /data/tree ] || {
        mkdir -p /data/tree/a/b /data/tree/empty
        seq 1 100000 > /data/tree/numbers
        head -c 3000000 /dev/urandom > /data/tree/a/random
        : > "/data/tree/a/b/$(printf 'line\\nend \\377 "name"')"
        ln /data/tree/numbers /data/tree/a/linked
        ln -s ../../etc/passwd /data/tree/outside
        truncate -s 50M /data/tree/sparse
        chown -R 1234:4321 /data/tree/a
        chmod 4750 /data/tree/a/random
      }
      exec tail -f /dev/null`,
    seed: `until [ -e /data/tree/sparse ]; do sleep 0.1; done; sleep 1`,
    dump: `
      cd /data/tree
      find . -printf '%p %y %m %U:%G %s %n %l\\n' | sort
      find . -type f -exec sha256sum {} + | sort`,
    migrate: `
      cd /data/tree
      head -c 200000 /dev/urandom > a/random
      dd if=/dev/urandom of=numbers bs=1000 seek=7 count=3 conv=notrunc 2> /dev/null
      rm a/linked outside
      ln -s /etc outside
      mv a c
      rmdir empty
      echo file > empty
      truncate -s 1 sparse
      chown -R 0:0 .
      chmod -R a-r .
      mkdir -p "$(seq -s / 1 200)"
      for i in $(seq 1 500); do echo "$i" > new$i; done`,
  },
];

export const SHOP_PROGRAM = SHOP;
