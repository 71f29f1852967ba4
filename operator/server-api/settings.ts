// Which of the declared settings are in force on the server.
import type { SendRequest } from './server-client.ts';

export interface ObservedSettings {
  /** All settings of this version. */
  known: readonly string[];
  /** Declared settings that are in force. */
  inForce: readonly string[];
}

interface Listed {
  items?: { key: string; source: string }[];
}

/** Undefined when the server does not report them. Throws Unreachable. */
export async function settingsFrom(request: SendRequest): Promise<ObservedSettings | undefined> {
  const { status, body } = await request('GET', '/settings');
  const { items } = (body ?? {}) as Listed;
  if (status !== 200 || !items) return undefined;
  const declared = items.filter(({ source }) => source === 'resource');
  return { known: items.map(({ key }) => key), inForce: declared.map(({ key }) => key) };
}

/** Declared settings that are not in force: those with an invalid value, and those that the server does not know. */
export function leftOut(declared: readonly string[], { known, inForce }: ObservedSettings) {
  const absent = declared.filter((key) => !inForce.includes(key));
  return {
    refused: absent.filter((key) => known.includes(key)),
    unknown: absent.filter((key) => !known.includes(key)),
  };
}
