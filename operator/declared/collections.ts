// The files of spec.declared: the API collection of each, and how a record is changed to match its declaration.
export type Body = Record<string, unknown>;

/** An API collection whose records have a name, a revision and managedBy, and whose POST accepts `validateOnly`. */
export interface Collection {
  path: `/${string}`;
  /** Name of one record in messages. */
  noun: string;
  /** The PATCH that changes `there` to match `wanted`, both as the server returns them; empty when they are equal. */
  difference(wanted: Body, there: Body): Body;
}

const TEXTS = ['name', 'description', 'author', 'base'];
const SCHEMES = ['dark', 'light'];

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const bodyOf = (value: unknown): Body => (value ?? {}) as Body;

/** Changed tokens; null for tokens that are no longer declared. */
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

/** By file name. Each file holds a list of bodies for the POST of the collection. */
export const collections: Readonly<Record<string, Collection>> = { 'themes.json': themes };

/** Files for areas that this version does not serve. */
export const isUnserved = (file: string): boolean =>
  /^(custom-fields|library-types|home)\.json$|^icons-[a-z0-9-]+\.zip$/.test(file);
