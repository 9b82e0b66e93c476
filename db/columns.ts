/**
 * One column map per table: the type of its records, the column list, INSERT, UPDATE and the mapping
 * of rows follow from it.
 *
 * Conditions and orders stay SQL, in the module of the table.
 *
 * @module
 */

import type { Database, Params } from "./database.ts";
import type { Page } from "./page.ts";

/** Stored form of a value: as it is, as 0 or 1, or as JSON text. */
type Kind = "value" | "boolean" | "json";

declare const valueType: unique symbol;

/** A column, which has the field's name in snake_case. */
type Column<Value> = Kind & { readonly [valueType]: Value };

// The columns of a map: `{ name: text<string | null>(), tags: json<string[]>() }`.
export const text = <Value extends string | null = string>() => "value" as Column<NoInfer<Value>>;
export const number = <Value extends number | null = number>() => "value" as Column<NoInfer<Value>>;
export const boolean = () => "boolean" as Column<boolean>;
export const json = <Value>() => "json" as Column<Value>;

/** The columns of a table by field. */
type Columns = Record<string, Column<unknown>>;

/** A record with a field for each column. */
type RecordOf<Of extends Columns> = {
  [Field in keyof Of]: Of[Field] extends Column<infer Value> ? Value : never;
};

/** The records of a table: `type User = Row<typeof users>`. */
export type Row<Of extends { fromRow(row: StoredRow): unknown }> = ReturnType<Of["fromRow"]>;

/**
 * The statements that follow from a column map. Fields of a record that are not in the map are
 * ignored. The module of a table exports those without SQL under its own names:
 * `export const { find: selectUser } = users`.
 */
interface Table<Stored> {
  /** The record with that key, or `undefined` when the key is unknown. */
  find(db: Database, key: Key): Stored | undefined;
  /** All records, in the order of the table. */
  all(db: Database): Stored[];
  /**
   * A part of the records, in the order of the table.
   *
   * @param where Which records; default: all.
   */
  page(db: Database, page: Page, where?: string, params?: Params): Stored[];
  /** The number of all records. */
  count(db: Database): number;
  /** @throws The SQLite error for a key or another unique value that is already in use. */
  insert(db: Database, record: Stored): void;
  /** Inserts a record, or replaces the one with the same key. */
  replace(db: Database, record: Stored): void;
  /** Stores all fields of the record with the same key. @returns Whether the key was known. */
  save(db: Database, record: Stored): boolean;
  /** @returns Whether the key was known. */
  delete(db: Database, key: Key): boolean;

  /** The columns of a SELECT, e.g. `id, created_at AS createdAt`. */
  readonly columns: string;
  /** The record of a row that a SELECT of `columns` returned. */
  fromRow(row: StoredRow): Stored;
  /** @param clauses What follows the table's name, e.g. `WHERE enabled = 1 ORDER BY id`. */
  select(db: Database, clauses?: string, params?: Params): Stored[];
  /** The first record, or `undefined`. */
  selectOne(db: Database, clauses?: string, params?: Params): Stored | undefined;
  countWhere(db: Database, clauses: string, params?: Params): number;
  /**
   * Inserts a record whose missing fields get the defaults of their columns.
   *
   * @param conflict E.g. `ON CONFLICT (id) DO NOTHING`.
   * @returns Whether a row was inserted or changed.
   */
  insertFields(db: Database, fields: Partial<Stored>, conflict?: string): boolean;
  /**
   * Stores the given fields of the record with that key.
   *
   * @param condition What else must hold, e.g. `status = 'pending'`.
   * @returns Whether there was such a record.
   */
  update(db: Database, key: Key, changes: Partial<Stored>, condition?: string): boolean;
}

/** Differences from the defaults of a table. */
interface TableOptions<Stored> {
  /** The field that identifies a record; `id` by default. */
  key?: keyof Stored & string;
  /** The order of `all` and `page`, e.g. `created_at DESC, id`; by default that of the key. */
  order?: string;
  /** Columns whose name does not follow from the field. */
  names?: { [Field in keyof Stored]?: string };
}

type Key = string | number;

/** The id of the row of a table with one row. */
const ROW_ID = 1;

type StoredRow = Record<string, string | number | null>;

/** Defines a table by its name and columns. */
export function table<Of extends Columns>(
  name: string,
  columns: Of,
  { key = "id", order, names = {} }: TableOptions<RecordOf<Of>> = {},
): Table<RecordOf<Of>> {
  type Stored = RecordOf<Of>;
  const kinds = Object.entries(columns) as [keyof Stored & string, Kind][];
  const columnOf = (field: string) => names[field as keyof Stored] ?? toSnakeCase(field);
  const orderBy = `ORDER BY ${order ?? columnOf(key)}`;
  const list = kinds.map(([field]) => selected(field, columnOf(field))).join(", ");
  const mapped = kinds.filter(([, kind]) => kind !== "value");
  const whereKey = `WHERE ${columnOf(key)} = :${key}`;

  const toParams = (record: Partial<Stored>): Params => {
    const params: Params = {};
    for (const [field, kind] of kinds) {
      if (Object.hasOwn(record, field)) params[field] = toStored(record[field], kind);
    }
    return params;
  };

  const fromRow = (row: StoredRow): Stored => {
    const record: Record<string, unknown> = row;
    for (const [field, kind] of mapped) {
      const value = row[field]!;
      if (value === null || value === undefined) continue;
      record[field] = kind === "boolean" ? value === 1 : JSON.parse(value as string);
    }
    return record as Stored;
  };

  const insert = (verb: string, db: Database, record: Partial<Stored>, conflict: string) => {
    const params = toParams(record);
    const fields = Object.keys(params);
    return db.run(
      `${verb} INTO ${name} (${fields.map(columnOf).join(", ")})
       VALUES (${fields.map((field) => `:${field}`).join(", ")}) ${conflict}`,
      params,
    ) > 0;
  };

  const select: Table<Stored>["select"] = (db, clauses = "", params = {}) =>
    db.all<StoredRow>(`SELECT ${list} FROM ${name} ${clauses}`, params).map(fromRow);

  const selectOne: Table<Stored>["selectOne"] = (db, clauses = "", params = {}) => {
    const row = db.get<StoredRow>(`SELECT ${list} FROM ${name} ${clauses}`, params);
    return row && fromRow(row);
  };

  const countWhere: Table<Stored>["countWhere"] = (db, clauses, params = {}) =>
    db.get<{ n: number }>(`SELECT count(*) AS n FROM ${name} ${clauses}`, params)!.n;

  const update: Table<Stored>["update"] = (db, value, changes, condition) => {
    const { [key]: _, ...params } = toParams(changes);
    const assignments = Object.keys(params).map((field) => `${columnOf(field)} = :${field}`);
    return db.run(
      `UPDATE ${name} SET ${assignments.join(", ")}
       ${whereKey} ${condition === undefined ? "" : `AND ${condition}`}`,
      { ...params, [key]: value },
    ) > 0;
  };

  return {
    find: (db, value) => selectOne(db, whereKey, { [key]: value }),
    all: (db) => select(db, orderBy),
    page: (db, { limit, offset }, where = "", params = {}) =>
      select(db, `${where} ${orderBy} LIMIT :limit OFFSET :offset`, {
        ...params,
        limit,
        offset,
      }),
    count: (db) => countWhere(db, ""),
    insert: (db, record) => void insert("INSERT", db, record, ""),
    replace: (db, record) => void insert("INSERT OR REPLACE", db, record, ""),
    save: (db, record) => update(db, record[key] as Key, record),
    delete: (db, value) => db.run(`DELETE FROM ${name} ${whereKey}`, { [key]: value }) > 0,
    columns: list,
    fromRow,
    select,
    selectOne,
    countWhere,
    insertFields: (db, fields, conflict = "") => insert("INSERT", db, fields, conflict),
    update,
  };
}

/** Defines a table whose only row exists from the start, e.g. the settings of a feature. */
export function singleRow<Of extends Columns>(name: string, columns: Of) {
  const rows = table(name, columns);
  return {
    read: (db: Database): RecordOf<Of> => rows.selectOne(db)!,
    update: (db: Database, changes: Partial<RecordOf<Of>>) => void rows.update(db, ROW_ID, changes),
  };
}

/** `createdAt` is stored as `created_at`. */
const toSnakeCase = (field: string) =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const selected = (field: string, column: string) =>
  column === field ? field : `${column} AS ${field}`;

function toStored(value: unknown, kind: Kind): string | number | null {
  if (value === null || value === undefined) return null;
  if (kind === "boolean") return Number(value);
  return kind === "json" ? JSON.stringify(value) : value as string | number;
}
