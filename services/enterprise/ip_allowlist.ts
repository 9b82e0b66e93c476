import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
export function assertAddressAllowed(_deps: Pick<Deps, "db">, _address: string, _caller?: Caller): void {}
