import type { Kind } from '#operator/schemas/structural.ts';

export type Place = readonly (string | number)[];
export type Spec = Record<string, unknown>;

export interface Change {
  at: Place;
  /** Undefined removes the field. */
  value: unknown;
}

export interface Expected {
  /** The API server refuses with this in its message, and nothing changes. */
  refused?: RegExp;
  /** A condition that must come, as `Type Status Reason`. */
  condition?: string;
  /** In the message of that condition. */
  says?: RegExp;
  /** It stays Ready all the same: running parts continue. */
  serves?: boolean;
}

export interface Mutation {
  kind: Kind['kind'];
  /** For people. */
  name: string;
  changes: Change[];
  misoperation: boolean;
  expected: Expected;
}

/** The spec with the changes made; members on the way are made. */
export function changed(spec: Spec, changes: readonly Change[]): Spec {
  const copy = structuredClone(spec);
  for (const { at, value } of changes) put(copy, at, value);
  return copy;
}

function put(spec: Spec, at: Place, value: unknown): void {
  let inside: Record<string | number, unknown> = spec;
  for (const [index, step] of at.slice(0, -1).entries()) {
    inside[step] ??= typeof at[index + 1] === 'number' ? [] : {};
    inside = inside[step] as Record<string | number, unknown>;
  }
  const last = at.at(-1) ?? '';
  if (value === undefined) delete inside[last];
  else inside[last] = structuredClone(value);
}

export function at(spec: unknown, place: Place): unknown {
  return place.reduce<unknown>(
    (inside, step) => (inside as Record<string | number, unknown> | undefined)?.[step],
    spec,
  );
}
