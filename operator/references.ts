// Which Secrets and ConfigMaps a resource names, and which of their keys it needs. Pure.

export type Place = readonly (string | number)[];

export interface Reference {
  path: Place;
  of: 'Secret' | 'ConfigMap';
  name: string;
  key: string | undefined;
}

/** The keys that a Secret must have where the reference names none, by the path below spec. */
const KEYS: Record<string, readonly string[]> = {
  'objects.secretRef': ['endpoint', 'accessKey', 'secretKey'],
  'email.secretRef': ['host', 'from'],
  'backup.destination.s3.secretRef': ['accessKey', 'secretKey'],
  'backup.copyTo.s3.secretRef': ['accessKey', 'secretKey'],
  ownerSecretRef: ['username', 'password'],
};

/** Every member named `…secretRef` or `…configMapRef`, wherever it lies. */
export function referencesIn(value: unknown, path: Place): Reference[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]): Reference[] => {
    const here = [...path, Array.isArray(value) ? Number(member) : member];
    const of = /secretRef$/i.test(member) ? 'Secret' : /configMapRef$/i.test(member) ? 'ConfigMap' : undefined;
    if (!of) return referencesIn(inner, here);
    const { name, key } = inner as { name: string; key?: string };
    return [{ path: here, of, name, key }];
  });
}

/** Keys that what the reference names must have; its path begins with `spec`. */
export const keysWanted = ({ path, key }: Reference): readonly string[] =>
  key === undefined ? (KEYS[path.slice(1).join('.')] ?? []) : [key];
