import type { Id } from "./types";

export const DEFAULT_RETRIES = 3;
const SECOND = 1000;

/** Shows a date as people write it. */
export function formatDate(
  date: Date,
  locale: string = "en",
  options?: Intl.DateTimeFormatOptions,
): string {
  return new Intl.DateTimeFormat(locale, options).format(date);
}

export async function retry<T>(
  action: () => Promise<T>,
  times: number = DEFAULT_RETRIES,
): Promise<T> {
  let last: unknown;
  for (let attempt = 0; attempt < times; attempt++) {
    try {
      return await action();
    } catch (error) {
      last = error;
      await sleep(attempt * SECOND);
    }
  }
  throw last;
}

function sleep(duration: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration));
}

export const sameId = (one: Id, other: Id): boolean =>
  String(one) === String(other);

export function groupBy<T, K extends string>(
  values: T[],
  key: (value: T) => K,
): Record<K, T[]> {
  const groups = {} as Record<K, T[]>;
  for (const value of values) {
    const name = key(value);
    (groups[name] ??= []).push(value);
  }
  return groups;
}

export function parse(text: string): number;
export function parse(text: string, base: number): number;
export function parse(text: string, base = 10): number {
  const found = Number.parseInt(text, base);
  if (Number.isNaN(found)) {
    throw new TypeError(`not a number: ${text}`);
  }
  return found;
}
