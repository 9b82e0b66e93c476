import type { Deps } from "../deps.ts";
export const isGranted = (_deps: Pick<Deps, "db">, _userId: string, _permission: string): boolean => false;
