/**
 * One column map per table: the column list, INSERT, UPDATE and the mapping of rows follow from it.
 *
 * Conditions and orders stay SQL, in the module of the table.
 *
 * @module
 */

import type { Database, Params } from "./database.ts";

/** How a field is stored: as it is, as 0 or 1, or as JSON text. */
type Kind = "value" | "boolean" | "json";

type KindOf<Value> = [Value] extends [boolean | null] ? "boolean"
  : [Value] extends [string | number | Uint8Array | null] ? "value"
  : "json";

/** Each field of a record with its kind. The column has the field's name in snake_case. */
export type Columns<Stored> = { [Field in keyof Stored]-?: KindOf<Stored[Field]> };

/** The statements that follow from a column map. */
export interface Table<Stored> {
  /** The columns of a SELECT, e.g. `id, created_at AS createdAt`. */
  readonly columns: string;
  /** The record of a row that a SELECT of `columns` returned. */
  fromRow(row: Row): Stored;
  /** @param clauses What follows the table's name, e.g. `WHERE enabled = 1 ORDER BY id`. */
  select(db: Database, clauses?: string, params?: Params): Stored[];
  /** The first record, or `undefined`. */
  selectOne(db: Database, clauses: string, params?: Params): Stored | undefined;
  count(db: Database, clauses?: string, params?: Params): number;
  /**
   * Fields that are not in the map are ignored.
   *
   * @param conflict E.g. `ON CONFLICT (id) DO NOTHING`.
   * @returns Whether a row was inserted or changed.
   */
  insert(db: Database, record: Stored, conflict?: string): boolean;
  /**
   * Stores the given fields of the record with that id.
   *
   * @returns Whether the id was known.
   */
  update(db: Database, id: string, changes: Partial<Stored>): boolean;
  /** @returns Whether the id was known. */
  delete(db: Database, id: string): boolean;
}

type Row = Record<string, string | number | null>;

/** Defines a table by its name and columns. */
export function table<Stored extends object>(
  name: string,
  columns: Columns<Stored>,
): Table<Stored> {
  const kinds = Object.entries(columns) as [keyof Stored & string, Kind][];
  const list = kinds.map(([field]) => selected(field)).join(", ");
  const mapped = kinds.filter(([, kind]) => kind !== "value");

  const toParams = (record: Partial<Stored>): Params => {
    const params: Params = {};
    for (const [field, kind] of kinds) {
      if (Object.hasOwn(record, field)) params[field] = toStored(record[field], kind);
    }
    return params;
  };

  const fromRow = (row: Row): Stored => {
    const record: Record<string, unknown> = row;
    for (const [field, kind] of mapped) {
      const value = row[field]!;
      if (value === null || value === undefined) continue;
      record[field] = kind === "boolean" ? value === 1 : JSON.parse(value as string);
    }
    return record as Stored;
  };

  return {
    columns: list,
    fromRow,
    select: (db, clauses = "", params = {}) =>
      db.all<Row>(`SELECT ${list} FROM ${name} ${clauses}`, params).map(fromRow),
    selectOne(db, clauses, params = {}) {
      const row = db.get<Row>(`SELECT ${list} FROM ${name} ${clauses}`, params);
      return row && fromRow(row);
    },
    count: (db, clauses = "", params = {}) =>
      db.get<{ n: number }>(`SELECT count(*) AS n FROM ${name} ${clauses}`, params)!.n,
    insert(db, record, conflict = "") {
      const params = toParams(record);
      const fields = Object.keys(params);
      return db.run(
        `INSERT INTO ${name} (${fields.map(columnOf).join(", ")})
         VALUES (${fields.map((field) => `:${field}`).join(", ")}) ${conflict}`,
        params,
      ) > 0;
    },
    update(db, id, changes) {
      const params = toParams(changes);
      delete params.id;
      const changed = Object.keys(params).map((field) => `${columnOf(field)} = :${field}`);
      return db.run(
        `UPDATE ${name} SET ${changed.join(", ")} WHERE id = :id`,
        { ...params, id },
      ) > 0;
    },
    delete: (db, id) => db.run(`DELETE FROM ${name} WHERE id = :id`, { id }) > 0,
  };
}

/** `createdAt` is stored as `created_at`. */
const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function selected(field: string): string {
  const column = columnOf(field);
  return column === field ? field : `${column} AS ${field}`;
}

function toStored(value: unknown, kind: Kind): string | number | null {
  if (value === null || value === undefined) return null;
  if (kind === "boolean") return Number(value);
  return kind === "json" ? JSON.stringify(value) : value as string | number;
}
