import { deepEqual, equal, throws } from "node:assert/strict";
import { boolean, json, number, type Row, singleRow, table, text } from "../../db/columns.ts";
import { openStateDatabase } from "../../db/database.ts";

const boats = table("boats", {
  id: text(),
  homePort: text<string | null>(),
  lengthM: number(),
  isAfloat: boolean(),
  crew: json<string[]>(),
  papers: json<{ flag: string } | null>(),
});

const DORY: Row<typeof boats> = {
  id: "1",
  homePort: null,
  lengthM: 4.5,
  isAfloat: true,
  crew: ["Ada", "Grace"],
  papers: null,
};

function openHarbor() {
  const db = openStateDatabase(":memory:");
  db.exec(`CREATE TABLE boats (id TEXT PRIMARY KEY, home_port TEXT, length_m REAL NOT NULL,
    is_afloat INTEGER NOT NULL, crew TEXT NOT NULL, papers TEXT) STRICT`);
  return { db, [Symbol.dispose]: () => db.close() };
}

Deno.test("table() stores and reads booleans and lists", () => {
  using harbor = openHarbor();
  const { db } = harbor;

  boats.insert(db, DORY);
  boats.insert(db, { ...DORY, id: "2", papers: { flag: "NO" }, isAfloat: false });

  deepEqual(boats.selectOne(db, "WHERE id = :id", { id: "1" }), DORY);
  deepEqual(boats.select(db, "WHERE is_afloat = 0").map(({ id, papers }) => ({ id, papers })), [
    { id: "2", papers: { flag: "NO" } },
  ]);
  equal(boats.selectOne(db, "WHERE id = '3'"), undefined);
  equal(boats.count(db), 2);
  equal(boats.countWhere(db, "WHERE length_m > :m", { m: 5 }), 0);
});

Deno.test("table() lists and pages records in its order, which is that of the key by default", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  for (const [id, lengthM] of [["1", 4], ["3", 6], ["2", 6], ["4", 5]] as const) {
    boats.insert(db, { ...DORY, id, lengthM });
  }
  const longest = table("boats", { id: text() }, { order: "length_m DESC, id" });
  const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id).join("");

  equal(idsOf(boats.all(db)), "1234");
  equal(idsOf(longest.all(db)), "2341");
  equal(idsOf(longest.page(db, { limit: 2, offset: 1 })), "34");
  const shorter = longest.page(db, { limit: 5, offset: 0 }, "WHERE length_m < :m", { m: 6 });
  equal(idsOf(shorter), "41");
});

Deno.test("table() updates the given fields only and reports an unknown id", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  boats.insert(db, DORY);

  equal(boats.update(db, "1", { isAfloat: false, crew: [] }), true);
  equal(boats.update(db, "2", { lengthM: 1 }), false);

  deepEqual(boats.select(db), [{ ...DORY, isAfloat: false, crew: [] }]);
});

Deno.test("table() saves all fields of a record and reports an unknown key", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  boats.insert(db, DORY);

  equal(boats.save(db, { ...DORY, homePort: "Oslo", crew: [] }), true);
  equal(boats.save(db, { ...DORY, id: "2" }), false);

  deepEqual(boats.select(db), [{ ...DORY, homePort: "Oslo", crew: [] }]);
});

Deno.test("table() ignores fields that it does not map", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  const seen = { ...DORY, seenAt: "2026-01-01" };

  boats.insert(db, seen);
  boats.update(db, "1", seen);

  deepEqual(boats.select(db), [DORY]);
});

Deno.test("table() handles a conflict as the clause says", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  boats.insert(db, DORY);

  equal(boats.insertFields(db, DORY, "ON CONFLICT DO NOTHING"), false);
  equal(boats.insertFields(db, { ...DORY, id: "2" }, "ON CONFLICT DO NOTHING"), true);
  throws(() => boats.insert(db, DORY), /UNIQUE constraint failed/);
});

Deno.test("table() deletes by id", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  boats.insert(db, DORY);

  equal(boats.delete(db, "1"), true);
  equal(boats.delete(db, "1"), false);
});

Deno.test("table() uses the given key and column names", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  const berths = table(
    "boats",
    { port: text(), meters: number() },
    { key: "port", names: { port: "home_port", meters: "length_m" } },
  );
  boats.insert(db, { ...DORY, homePort: "Oslo" });

  equal(berths.update(db, "Oslo", { meters: 5 }), true);
  deepEqual({ ...berths.find(db, "Oslo") }, { port: "Oslo", meters: 5 });
  equal(berths.find(db, "Bergen"), undefined);
  equal(berths.delete(db, "Oslo"), true);
});

Deno.test("table() updates a record only if the condition holds", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  boats.insert(db, DORY);

  equal(boats.update(db, "1", { lengthM: 5 }, "is_afloat = 0"), false);
  equal(boats.update(db, "1", { lengthM: 6 }, "is_afloat = 1"), true);

  equal(boats.find(db, "1")?.lengthM, 6);
});

Deno.test("table() replaces a record with the same key", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  boats.insert(db, DORY);

  boats.replace(db, { ...DORY, crew: [] });

  deepEqual(boats.select(db), [{ ...DORY, crew: [] }]);
});

Deno.test("singleRow() reads the only row and changes the given fields", () => {
  using harbor = openHarbor();
  const { db } = harbor;
  db.exec(
    `CREATE TABLE lighthouse (id INTEGER PRIMARY KEY, is_lit INTEGER, range_nm INTEGER) STRICT;
    INSERT INTO lighthouse VALUES (1, 1, 20)`,
  );
  const lighthouse = singleRow("lighthouse", { isLit: boolean(), rangeNm: number() });

  lighthouse.update(db, { isLit: false });

  deepEqual({ ...lighthouse.read(db) }, { isLit: false, rangeNm: 20 });
});
