// Which channel of a guide is which channel of the tuners.
export type MatchedBy = 'id' | 'name' | 'number';

export interface ToMatch {
  id: string;
  name: string;
  callSign?: string | null;
  number: string;
  /** `tvg-id` of its sources. */
  tvgIds: readonly string[];
}

export interface Candidate {
  sourceId: string;
  guideId: string;
  names: readonly string[];
  number?: string | null;
  /** Of the source; the higher one wins a tie. */
  priority: number;
}

export interface Match {
  channelId: string;
  sourceId: string;
  guideId: string;
  score: number;
  by: MatchedBy;
}

/** Words that say how a channel is sent, not which it is. */
const QUALITY = new Set([
  'hd',
  'fhd',
  'uhd',
  'sd',
  '4k',
  '8k',
  'hevc',
  'h265',
  'h264',
  '1080p',
  '1080i',
  '720p',
  '576p',
]);
/** Words of places, which playlists put before or behind the name. */
const REGIONS = new Set([
  ...[
    'uk',
    'us',
    'usa',
    'de',
    'at',
    'ch',
    'fr',
    'it',
    'es',
    'pt',
    'nl',
    'be',
    'ie',
    'ca',
    'au',
    'nz',
    'se',
    'no',
    'dk',
  ],
  ...['fi', 'pl', 'cz', 'hu', 'ro', 'gr', 'tr', 'br', 'mx', 'ar', 'in', 'za', 'gb'],
]);
/** Words of regional editions, which guides often leave out. */
const EDITIONS = new Set([
  ...['london', 'scotland', 'wales', 'glasgow', 'east', 'nord', 'sud', 'sued', 'w', 'wien', 'koln', 'koeln', 'berlin'],
  ...['brandenburg', 'sachsen', 'anhalt', 'thuringen', 'thueringen', 'bw', 'rp', 'nds', 'sh', 'hh', 'mv', 'sp'],
  ...['stockholm', 'deutschland', 'oesterreich', 'osterreich', 'schweiz', 'fernsehen', 'fs'],
]);
const MOST_NAME = 200;

/** Words of letters and digits, without accents. An article is part of the name: `La 1` is not `One`. */
function wordsOf(name: string): string[] {
  const marked = name.slice(0, MOST_NAME).replace(/\+(\d{1,2})\b/g, ' plus$1 ');
  const plain = marked.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/&/g, ' and ');
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '' && !QUALITY.has(word));
}

/** A channel named `One` alone keeps its word. */
const joined = (words: readonly string[]): string =>
  words.length === 1 ? (words[0] ?? '') : words.map((word) => NUMBERS[word] ?? word).join('');

function withoutRegions(words: string[]): string[] {
  while (words.length > 1 && REGIONS.has(words[0] ?? '')) words.shift();
  while (words.length > 1 && REGIONS.has(words.at(-1) ?? '')) words.pop();
  return words;
}

/** `UK: BBC One HD`, `bbc-one` and `BBC 1 (UK)` compare equal; `+1` stays, because it is another channel. */
export function channelKey(name: string): string {
  return joined(withoutRegions(wordsOf(name)));
}

/** The key of a name without its regional edition: `WDR Köln` is the channel `WDR`. */
function nationalKey(name: string): string {
  const words = withoutRegions(wordsOf(name));
  while (words.length > 1 && EDITIONS.has(words.at(-1) ?? '')) words.pop();
  return joined(words);
}

/** The country that a name begins or ends with, and that an id ends with. */
function regionOf(name: string): string | undefined {
  const words = wordsOf(name);
  const found = words.length > 1 && [words[0], words.at(-1)].find((word) => word && REGIONS.has(word));
  return found ? (SAME[found] ?? found) : undefined;
}

const regionOfId = (id: string): string | undefined => /\.([a-z]{2})$/i.exec(id)?.[1]?.toLowerCase();

const SAME: Readonly<Record<string, string>> = { gb: 'uk', usa: 'us' };

const NUMBERS: Readonly<Record<string, string>> = {
  ...{ one: '1', two: '2', three: '3', four: '4', five: '5', six: '6', seven: '7', eight: '8', nine: '9', ten: '10' },
  ...{ eins: '1', zwei: '2', drei: '3', uno: '1', due: '2', tre: '3', quattro: '4', ii: '2', iii: '3' },
};

/** Ids are compared without case; many end in the region, as in `bbcone.uk`. */
const idKey = (id: string): string => id.slice(0, MOST_NAME).toLowerCase().trim();

const SCORES = { id: 1, name: 0.95, edition: 0.88, callSign: 0.9, abroad: 0.8, number: 0.6 } as const;
/** A number alone says nothing: the names must be this alike. */
const LIKE = 0.5;
/** Candidates of one number that are compared. */
const MOST_ALIKE = 50;

/** Candidates by each key; a better one comes first. */
class Index {
  readonly #pairs = new Map<string, Set<string>>();
  readonly #ids = new Map<string, Candidate[]>();
  readonly #names = new Map<string, Candidate[]>();
  readonly #numbers = new Map<string, Candidate[]>();

  constructor(candidates: readonly Candidate[]) {
    for (const candidate of candidates.toSorted((a, b) => b.priority - a.priority)) {
      const { guideId, names, number } = candidate;
      add(this.#ids, idKey(guideId), candidate);
      const keys = new Set([...names, guideId.replace(/\.[a-z]{2,3}$/i, '')].map(channelKey));
      for (const key of keys) add(this.#names, key, candidate);
      if (number) add(this.#numbers, number, candidate);
    }
  }

  best(channel: ToMatch): Match | undefined {
    const of = (candidate: Candidate | undefined, by: MatchedBy, score: number): Match | undefined =>
      candidate && { channelId: channel.id, sourceId: candidate.sourceId, guideId: candidate.guideId, score, by };
    const byId = channel.tvgIds.map((id) => this.#ids.get(idKey(id))?.[0]).find(Boolean);
    if (byId) return of(byId, 'id', SCORES.id);
    const byName = this.#named(channel.name, channelKey(channel.name));
    if (byName) return of(byName.candidate, 'name', byName.abroad ? SCORES.abroad : SCORES.name);
    const edition = this.#named(channel.name, nationalKey(channel.name));
    if (edition) return of(edition.candidate, 'name', edition.abroad ? SCORES.abroad : SCORES.edition);
    const bySign = channel.callSign && this.#named(channel.callSign, channelKey(channel.callSign));
    if (bySign) return of(bySign.candidate, 'name', SCORES.callSign);
    return this.#numbered(channel, of);
  }

  #pairsOf(name: string): Set<string> {
    const known = this.#pairs.get(name) ?? pairsOf(name);
    this.#pairs.set(name, known);
    return known;
  }

  /** One of the country that the name says before others; `abroad` is one of another country. */
  #named(name: string, key: string): { candidate: Candidate; abroad: boolean } | undefined {
    const all = key === '' ? undefined : this.#names.get(key);
    if (!all?.[0]) return undefined;
    const region = regionOf(name);
    const isAbroad = ({ guideId }: Candidate): boolean => {
      const other = regionOfId(guideId);
      return region !== undefined && other !== undefined && REGIONS.has(other) && other !== region;
    };
    const candidate = all.find((one) => !isAbroad(one)) ?? all[0];
    return { candidate, abroad: isAbroad(candidate) };
  }

  /** The score rises from 0.8 with the likeness of the names. */
  #numbered(
    channel: ToMatch,
    of: (candidate: Candidate | undefined, by: MatchedBy, score: number) => Match | undefined,
  ): Match | undefined {
    const own = pairsOf(channel.name);
    const alike = (this.#numbers.get(channel.number) ?? []).slice(0, MOST_ALIKE).map((candidate) => ({
      candidate,
      like: Math.max(0, ...candidate.names.map((name) => likeness(own, this.#pairsOf(name)))),
    }));
    const best = alike.filter(({ like }) => like >= LIKE).toSorted((a, b) => b.like - a.like)[0];
    return best && of(best.candidate, 'number', Math.round((SCORES.number + 0.4 * best.like) * 100) / 100);
  }
}

/** Pairs of letters of a name. */
function pairsOf(name: string): Set<string> {
  const key = channelKey(name);
  return new Set(Array.from({ length: Math.max(0, key.length - 1) }, (_, at) => key.slice(at, at + 2)));
}

/** 0 to 1 by the pairs that two names share. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared += 1;
  return shared === 0 ? 0 : (2 * shared) / (one.size + other.size);
}

function add(map: Map<string, Candidate[]>, key: string, candidate: Candidate): void {
  if (key === '') return;
  const known = map.get(key);
  if (known) known.push(candidate);
  else map.set(key, [candidate]);
}

/** The best match of each channel that has one. Its time is linear in the number of both. */
export function matchChannels(channels: readonly ToMatch[], candidates: readonly Candidate[]): Match[] {
  const index = new Index(candidates);
  return channels.flatMap((channel) => index.best(channel) ?? []);
}
