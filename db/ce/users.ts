/**
 * The `users` table: who may log in, in users mode.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One user as shown. */
export interface User {
  id: string;
  /** As it was given; users are told apart by `emailKey`. */
  email: string;
  role: "viewer" | "operator" | "admin";
  /** ISO 8601, UTC. */
  createdAt: string;
  /** `null` for somebody who never logged in. */
  lastLoginAt: string | null;
}

/** What a user is stored with besides what is shown. */
export interface UserSecrets {
  /** The address as it is compared. Unique. */
  emailKey: string;
  /** `null` for a user who cannot log in by password. */
  passwordHash: string | null;
}

const COLUMNS = "id, email, role, created_at AS createdAt, last_login_at AS lastLoginAt";

/** All users by email. */
export function selectUsers(db: Database): User[] {
  return db.all<User>(`SELECT ${COLUMNS} FROM users ORDER BY email_key`);
}

/** Those who cannot log in by password: others vouch for them. */
export function selectUsersWithoutPassword(db: Database): User[] {
  return db.all<User>(
    `SELECT ${COLUMNS} FROM users WHERE password_hash IS NULL ORDER BY email_key`,
  );
}

/** One user, or `undefined` when the id is unknown. */
export function selectUser(db: Database, id: string): User | undefined {
  return db.get<User>(`SELECT ${COLUMNS} FROM users WHERE id = :id`, { id });
}

/** One user, or `undefined` when nobody has the address. */
export function selectUserByEmail(db: Database, emailKey: string): User | undefined {
  return db.get<User>(`SELECT ${COLUMNS} FROM users WHERE email_key = :emailKey`, { emailKey });
}

/** The stored hash; `null` without a password, also when the id is unknown. */
export function selectPasswordHash(db: Database, id: string): string | null {
  return db.get<{ hash: string | null }>(
    "SELECT password_hash AS hash FROM users WHERE id = :id",
    { id },
  )?.hash ?? null;
}

export function countUsers(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM users")!.n;
}

export function countAdmins(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM users WHERE role = 'admin'")!.n;
}

/** @throws The SQLite error for an `emailKey` already taken. */
export function insertUser(db: Database, user: User & UserSecrets): void {
  db.run(
    `INSERT INTO users (id, email, email_key, password_hash, role, created_at, last_login_at)
     VALUES (:id, :email, :emailKey, :passwordHash, :role, :createdAt, :lastLoginAt)`,
    { ...user },
  );
}

/** @returns Whether the id was known. */
export function updateUserRole(db: Database, id: string, role: User["role"]): boolean {
  return db.run("UPDATE users SET role = :role WHERE id = :id", { id, role }) > 0;
}

/** @returns Whether the id was known. */
export function updateUserPassword(db: Database, id: string, passwordHash: string): boolean {
  return db.run("UPDATE users SET password_hash = :passwordHash WHERE id = :id", {
    id,
    passwordHash,
  }) > 0;
}

/** @returns Whether the id was known. */
export function updateUserLastLogin(db: Database, id: string, lastLoginAt: string): boolean {
  return db.run("UPDATE users SET last_login_at = :lastLoginAt WHERE id = :id", {
    id,
    lastLoginAt,
  }) > 0;
}

/** @returns Whether the id was known. */
export function deleteUser(db: Database, id: string): boolean {
  return db.run("DELETE FROM users WHERE id = :id", { id }) > 0;
}
