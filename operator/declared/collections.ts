// The files of spec.declared: the API collection of each, and how a record is changed to match its declaration.
import { isDeepStrictEqual } from 'node:util';

export type Body = Record<string, unknown>;

/** An API collection whose records have a revision and managedBy, and whose POST accepts `validateOnly`. */
export interface Collection {
  path: `/${string}`;
  /** Name of one record in messages. */
  noun: string;
  /** The member by which an entry is known. */
  knownBy: 'name' | 'key';
  /** The member that stands in the path of one record. */
  pathBy: 'id' | 'key';
  /** The list holds whole records; otherwise each is read on its own. */
  isWhole?: true;
  /** Members of the POST in addition to the entry. */
  creates?: Body;
  /** The PATCH that changes `there` to match `wanted`, both as the server returns them; empty when they are equal. */
  difference(wanted: Body, there: Body): Body;
}

const TEXTS = ['name', 'description', 'author', 'base'];
const SCHEMES = ['dark', 'light'];

const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);
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
  knownBy: 'name',
  pathBy: 'id',
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

interface Members {
  /** Members that a change may leave out only when they are equal. */
  kept: readonly string[];
  /** Members that null clears. */
  cleared: readonly string[];
}

/** Members that differ; null for those of `cleared` that are no longer declared. */
function memberChanges({ kept, cleared }: Members, wanted: Body, there: Body): Body {
  const changed = [...kept, ...cleared].filter((name) => !isSame(wanted[name], there[name]));
  const stated = changed.filter((name) => wanted[name] !== undefined || cleared.includes(name));
  return Object.fromEntries(stated.map((name) => [name, wanted[name] ?? null]));
}

const TYPE_MEMBERS = ['name', 'plural', 'files', 'naming', 'agents', 'fieldKeys', 'analyses', 'views'];
const TYPE_CLEARED = ['description', 'iconId'];

/** Levels as a PATCH takes them. */
const levelsOf = ({ levels }: Body): Body[] =>
  ((levels ?? []) as Body[]).map(({ baseType: _computed, ...level }) => level);

const libraryTypes: Collection = {
  path: '/library-types',
  noun: 'library type',
  knownBy: 'key',
  pathBy: 'key',
  isWhole: true,
  difference(wanted, there) {
    const levels = levelsOf(wanted);
    return {
      ...memberChanges({ kept: TYPE_MEMBERS, cleared: TYPE_CLEARED }, wanted, there),
      ...(!isSame(levels, levelsOf(there)) && { levels }),
    };
  },
};

const FIELD_MEMBERS = [
  ...['label', 'kind', 'itemTypes', 'options', 'required', 'audience', 'editableBy', 'order'],
  ...['inFilter', 'inSort', 'inFacets', 'inSearch', 'inLists'],
];
const FIELD_CLEARED = [
  ...['description', 'libraryIds', 'unit', 'min', 'max', 'decimals', 'maxLength', 'targetTypes', 'default', 'group'],
];

const customFields: Collection = {
  path: '/custom-fields',
  noun: 'custom field',
  knownBy: 'key',
  pathBy: 'id',
  isWhole: true,
  creates: { restore: true },
  difference: (wanted, there) => memberChanges({ kept: FIELD_MEMBERS, cleared: FIELD_CLEARED }, wanted, there),
};

/** By file name, in the order in which they are applied. Each file holds a list of bodies for the POST of the collection. */
export const collections: Readonly<Record<string, Collection>> = {
  'themes.json': themes,
  'library-types.json': libraryTypes,
  'custom-fields.json': customFields,
};
