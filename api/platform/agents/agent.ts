import type { z } from 'zod';
import type { CatalogueKeyName } from '../catalogue-keys.ts';
import type { ItemValues } from '../item-values.ts';

/** Built-in agents that need the network. */
export const catalogueIds = [
  'wikidata',
  'musicbrainz',
  'coverartarchive',
  'openlibrary',
  'anilist',
  'tmdb',
  'tvdb',
  'omdb',
  'fanart',
  'comicvine',
  'igdb',
] as const;
export type CatalogueId = (typeof catalogueIds)[number];
export const isCatalogue = (id: string): id is CatalogueId => (catalogueIds as readonly string[]).includes(id);

/** Every agent whose values are kept for an item besides those of its files. */
export const describingIds: readonly string[] = ['spine', ...catalogueIds];

export type Offer = 'identify' | 'metadata' | 'artwork' | 'people' | 'ratings' | 'missing-children';

/** The values of an agent's keys that are present. */
export type KeyValues = Partial<Record<CatalogueKeyName, string>>;

/** Parts of a request that carry a key. They go to the agent's own address only. */
export interface Credentials {
  headers?: Record<string, string>;
  query?: Record<string, string>;
}

/** One request of an agent, without its credentials. */
export interface CatalogueRequest<S extends z.ZodType = z.ZodType> {
  /** Below the address of the agent. Ids of others are encoded by the caller. */
  path: string;
  query?: Record<string, string | number | undefined>;
  method?: 'GET' | 'POST';
  /** With POST; text as it is, an object as JSON. */
  body?: string | object;
  schema: S;
}

/** Sends a request of one agent, or takes its answer from the cache; undefined for what the catalogue does not have. */
export type Query = <S extends z.ZodType>(request: CatalogueRequest<S>) => Promise<z.output<S> | undefined>;

/** A request that gets a token for the credentials of later requests. */
export interface TokenRule {
  path: string;
  /** Public address, when tokens come from another one than the agent's. */
  address?: string;
  request: (keys: KeyValues) => { query?: Record<string, string>; body?: object };
  /** Undefined for an answer without a token. */
  read: (answer: unknown) => { token: string; lastsSec: number } | undefined;
}

/** The meaning of an answer that its status does not show. `none` is known to be absent. */
export type Verdict = 'none' | 'refused' | 'rate-limited' | 'failed';

/** An item to find in a catalogue. */
export interface Wanted {
  type: string;
  title: string;
  originalTitle?: string;
  year?: number;
  ids: Readonly<Record<string, string>>;
  /** Artists of an album, authors of a book, the series of a comic. */
  by?: readonly string[];
  index?: number;
  parentIndex?: number;
  isbn?: string;
  runtimeMs?: number;
  childCounts?: ChildCounts;
  /** BCP 47. */
  language: string;
  country?: string;
}

export interface ChildCounts {
  seasons?: number;
  episodes?: number;
  tracks?: number;
}

/** An entry of a catalogue that may be the item. */
export interface Found {
  /** By provider, the agent's own among them. */
  ids: Record<string, string>;
  type: string;
  title: string;
  /** Other names, which count like the title. */
  aliases?: string[];
  originalTitle?: string;
  by?: string[];
  year?: number;
  releasedOn?: string;
  overview?: string;
  /** Address of a small picture. */
  poster?: string;
  runtimeMs?: number;
  isbn?: string[];
  childCounts?: ChildCounts;
}

/** An identified item. The ids of a season or an episode are those of its show. */
export interface Identity {
  type: string;
  ids: Readonly<Record<string, string>>;
  /** Season of an episode. */
  parentIndex?: number;
  index?: number;
  /** BCP 47. */
  language: string;
  country?: string;
}

/** A picture of a catalogue, which the artwork fetch downloads. */
export interface RemotePicture {
  /** A kind of Artwork; `poster` stands for the main picture of any type. */
  kind: 'poster' | 'backdrop' | 'thumb' | 'logo' | 'banner' | 'clearart' | 'still' | 'disc' | 'portrait';
  url: string;
  /** A smaller one of it, for lists. */
  previewUrl?: string;
  width?: number;
  height?: number;
  /** BCP 47; absent is without text. */
  language?: string;
  /** 0 to 10. */
  score?: number;
  votes?: number;
}

/** A child that the catalogue knows, as Items lists missing ones. */
export interface KnownChild {
  type: string;
  title: string;
  parentIndex?: number;
  index?: number;
  releasedOn?: string;
  externalIds: Record<string, string>;
  overview?: string;
}

export interface Description {
  values: ItemValues;
  /** Pictures that came with the values. */
  pictures: RemotePicture[];
  /** The series of which the item is a part, such as the films of one story. */
  partOf?: SeriesOf;
}

/** A series as a catalogue names it. */
export interface SeriesOf {
  /** Of the catalogue. */
  id: string;
  title: string;
}

/** A person as a catalogue describes them; absent members are unknown to it. */
export interface DescribedPerson {
  name?: string;
  aliases?: string[];
  /** YYYY-MM-DD */
  birthday?: string;
  deathday?: string;
  birthplace?: string;
  biography?: string;
  homepage?: string;
  externalIds?: Record<string, string>;
  /** Address of a picture. */
  portrait?: string;
}

/** One catalogue. */
export interface Agent {
  id: CatalogueId;
  name: string;
  homepage: string;
  /** The provider of its ids in `externalIds`; an agent without one works with the ids of others. */
  provider?: string;
  /** Types of items that it describes. */
  itemTypes: readonly string[];
  offers: readonly Offer[];
  /** Public address, without a slash at its end; `metadata.baseUrls` replaces it. */
  address: string;
  /** One request in so many milliseconds over all processes; `burst` may come together. */
  rate: { everyMs: number; burst: number };
  /** Name of its rate and its pauses, when it is another service than the one of its id. */
  circuit?: string;
  /** Absent for an agent without keys. */
  credentials?: (keys: KeyValues, token: string | undefined) => Credentials;
  token?: TokenRule;
  headers?: Record<string, string>;
  /** For catalogues that report faults with status 200, or misses with another than 404. */
  judge?: (answer: { status: number; body: unknown }) => Verdict | undefined;
  /** A small request that shows whether it answers and takes the key. */
  ping: CatalogueRequest;
  identify?: (query: Query, wanted: Wanted) => Promise<Found[]>;
  describe?: (query: Query, identity: Identity) => Promise<Description | undefined>;
  artwork?: (query: Query, identity: Identity) => Promise<RemotePicture[]>;
  children?: (query: Query, identity: Identity) => Promise<KnownChild[]>;
  /** Describes the person with the agent's own id. */
  person?: (query: Query, person: Pick<Identity, 'ids' | 'language'>) => Promise<DescribedPerson | undefined>;
}
