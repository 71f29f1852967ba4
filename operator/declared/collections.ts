// The files of spec.declared: which list of the API each holds, and how what is there is brought to what is wanted.
export type Body = Record<string, unknown>;

/** A list of the API whose records have a name, a revision and managedBy, and whose POST takes `validateOnly`. */
export interface Collection {
  path: `/${string}`;
  /** Of one record, for people. */
  noun: string;
  /** The PATCH that makes `there` what `wanted` is, both as the server answers them; empty where it is so. */
  difference(wanted: Body, there: Body): Body;
}

const TEXTS = ['name', 'description', 'author', 'base'];
const SCHEMES = ['dark', 'light'];

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const bodyOf = (value: unknown): Body => (value ?? {}) as Body;

/** Tokens that differ; null for those that are no longer said. */
function tokenChanges(wanted: Body, there: Body): Body {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(there)])];
  const changed = names.filter((name) => !isSame(wanted[name], there[name]));
  return Object.fromEntries(changed.map((name) => [name, wanted[name] ?? null]));
}

function schemeChanges(wanted: Body, there: Body): Body {
  const changes = SCHEMES.flatMap((scheme): [string, Body | null][] => {
    if (!wanted[scheme]) return there[scheme] ? [[scheme, null]] : [];
    const change = tokenChanges(bodyOf(wanted[scheme]), bodyOf(there[scheme]));
    return there[scheme] && Object.keys(change).length === 0 ? [] : [[scheme, change]];
  });
  return Object.fromEntries(changes);
}

const themes: Collection = {
  path: '/themes',
  noun: 'theme',
  difference(wanted, there) {
    const texts = TEXTS.filter((name) => wanted[name] !== there[name]).map((name) => [name, wanted[name] ?? null]);
    const schemes = schemeChanges(bodyOf(wanted['schemes']), bodyOf(there['schemes']));
    const shared = tokenChanges(bodyOf(wanted['shared']), bodyOf(there['shared']));
    return {
      ...Object.fromEntries(texts),
      ...(Object.keys(schemes).length > 0 && { schemes }),
      ...(Object.keys(shared).length > 0 && { shared }),
    };
  },
};

/** By the name of the file; a list of bodies as the POST of the collection takes them. */
export const collections: Readonly<Record<string, Collection>> = { 'themes.json': themes };

/** Files whose areas this version does not serve. */
export const isUnserved = (file: string): boolean =>
  /^(custom-fields|library-types|home)\.json$|^icons-[a-z0-9-]+\.zip$/.test(file);
