/** Where the value of a field comes from; an agent by its id. */
export type Source = 'person' | 'nfo' | 'embedded' | 'file-name' | 'default' | { agent: string };

/** A credit as sources name it. */
export interface NamedCredit {
  name: string;
  /** A known person; otherwise the name and the ids find one. */
  personId?: string;
  /** A PersonRole. */
  role: string;
  character?: string;
  /** The word of the catalogue, such as "Second Unit Director". */
  job?: string;
  guest?: boolean;
  /** By provider, such as `tmdb`. */
  ids?: Record<string, string>;
}

/** What one source says of an item. A member that is absent is not known there; a list is the whole list. */
export interface ItemValues {
  title?: string;
  sortTitle?: string;
  originalTitle?: string;
  overview?: string;
  tagline?: string;
  year?: number;
  /** ISO 8601 day. */
  releasedOn?: string;
  /** As printed, such as `PG-13` or `FSK 12`. */
  ageRating?: string;
  /** 0 to 10. */
  rating?: number;
  /** Number in the container: of a season, an episode, a track, a comic. */
  index?: number;
  /** The last of several episodes in one file. */
  indexEnd?: number;
  /** Season, disc or volume. */
  parentIndex?: number;
  airsBefore?: { season: number; episode?: number };
  status?: 'ended' | 'continuing' | 'upcoming';
  genres?: string[];
  tags?: string[];
  studios?: string[];
  /** ISO 3166-1 alpha-2 codes, as far as known. */
  countries?: string[];
  /** BCP 47. */
  originalLanguage?: string;
  people?: NamedCredit[];
  artists?: string[];
  authors?: string[];
  narrators?: string[];
  publisher?: string;
  isbn?: string;
  series?: { title: string; number?: string };
  platform?: string;
  /** ISO 8601 moment, of photos. */
  takenAt?: string;
  /** Minutes east of UTC. */
  takenAtOffset?: number;
  place?: { latitude: number; longitude: number; [more: string]: unknown };
  readingDirection?: 'ltr' | 'rtl' | 'vertical';
  links?: { name: string; url: string }[];
  /** By provider, such as `imdb`; merged by provider. */
  externalIds?: Record<string, string>;
}

export type FieldName = keyof ItemValues;

/** What one source says of an item, with the source. */
export interface Layer {
  source: Exclude<Source, 'person' | 'default'>;
  values: ItemValues;
}
