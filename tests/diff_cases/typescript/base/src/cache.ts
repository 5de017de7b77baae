import type { Id, Task } from "./types";

export interface Clock {
  now(): number;
}

export type Entry<V> = { value: V; expires: number };
export type Mode = "read" | "write";

export class Cache<K extends Id, V> {
  #entries = new Map<K, Entry<V>>();
  protected readonly clock: Clock;
  hits = 0;

  constructor(clock: Clock, readonly lifetime: number = 60) {
    this.clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry && entry.expires > this.clock.now()) {
      this.hits++;
      return entry.value;
    }
    return undefined;
  }

  set(key: K, value: V, lifetime?: number): this {
    this.#entries.set(key, { value, expires: this.clock.now() + (lifetime ?? this.lifetime) });
    return this;
  }

  clear(): void {
    this.#entries.clear();
  }
}

export namespace keys {
  export function ofTask(task: Task): Id {
    return task.id;
  }
}

export enum Level {
  Low,
  High,
}

export function isTask(value: unknown): value is Task {
  return typeof value === "object" && value !== null && "status" in value;
}

export function pick<T, K extends keyof T>(value: T, ...names: K[]): Pick<T, K> {
  const out = {} as Pick<T, K>;
  for (const name of names) out[name] = value[name];
  return out;
}

export default Cache;
