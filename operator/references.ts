// The Secrets and ConfigMaps that a resource references, and the keys that it needs. Pure.

export type Place = readonly (string | number)[];

export interface Reference {
  path: Place;
  of: 'Secret' | 'ConfigMap';
  name: string;
  key: string | undefined;
}

/** Required keys of Secrets whose reference names no key, by the path below spec. */
const KEYS: Record<string, readonly string[]> = {
  'media.s3.secretRef': ['accessKey', 'secretKey'],
  'objects.secretRef': ['endpoint', 'accessKey', 'secretKey'],
  'email.secretRef': ['host', 'from'],
  'backup.destination.s3.secretRef': ['accessKey', 'secretKey'],
  'backup.copyTo.s3.secretRef': ['accessKey', 'secretKey'],
  ownerSecretRef: ['username', 'password'],
};

/** Every member named `…secretRef` or `…configMapRef`, at any depth. */
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

/** Required keys of the referenced object; the path begins with `spec`. */
export const keysWanted = ({ path, key }: Reference): readonly string[] =>
  key === undefined ? (KEYS[membersOf(path).join('.')] ?? []) : [key];

/** Without `spec` and the indexes of lists. */
const membersOf = (path: Place): Place => path.slice(1).filter((member) => typeof member === 'string');
