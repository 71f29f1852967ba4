import type { Call } from '#kernel/endpoint.ts';
import { agentOf } from '#platform/agents/index.ts';
import { known } from '#platform/agents/parts.ts';
import { listPacks } from '#platform/spine/packs.store.ts';
import type { DiscoverSource } from './discover.schemas.ts';
import type { Provider } from './titles/facts.ts';

/** The outcome of the last request to a source. */
export interface SourceState {
  state: 'ok' | 'unavailable' | 'stale';
  /** ISO time of its last answer. */
  asOf?: string;
}
export type SourceStates = Partial<Record<Provider, SourceState>>;

const PROVIDES: Readonly<Record<Provider, DiscoverSource['provides']>> = {
  local: ['lists', 'details', 'offers', 'search', 'artwork'],
  spine: ['lists', 'details', 'search'],
  wikidata: ['lists', 'details', 'offers', 'search'],
  tmdb: ['lists', 'details', 'offers', 'search', 'artwork'],
};

/** The state of every source: what closes it now, else its last outcome. */
export async function sourcesOf(
  { db, deps }: Pick<Call, 'db' | 'deps'>,
  last: SourceStates,
): Promise<DiscoverSource[]> {
  const [[pack], wikidata, tmdb] = await Promise.all([
    listPacks(db),
    deps.catalogues.closedFor(agentOf('wikidata')),
    deps.catalogues.closedFor(agentOf('tmdb')),
  ]);
  const of = (
    source: Provider,
    more: Pick<DiscoverSource, 'state'> & { asOf?: string | undefined },
  ): DiscoverSource => ({
    ...{ source, provides: PROVIDES[source], keys: source === 'tmdb' ? ['tmdb.apiKey'] : [] },
    ...known<Pick<DiscoverSource, 'state'>>(more),
  });
  const outside = (source: 'wikidata' | 'tmdb', closed: 'disabled' | 'missing-key' | undefined): DiscoverSource => {
    const { state = 'ok', asOf } = last[source] ?? {};
    return of(source, { state: closed ?? state, asOf });
  };
  return [
    of('local', { state: 'ok' }),
    of('spine', pack ? { state: 'ok', asOf: pack.built_at.toISOString() } : { state: 'not-covered' }),
    outside('wikidata', wikidata),
    outside('tmdb', tmdb),
  ];
}

/** Whether the source had a part in the answer. */
export const answers = (sources: readonly DiscoverSource[], source: Provider): boolean =>
  sources.some((one) => one.source === source && (one.state === 'ok' || one.state === 'stale'));

/** Texts that the sources of an answer require. */
export function attributionOf(sources: readonly DiscoverSource[]): string[] {
  const tmdb = answers(sources, 'tmdb');
  return [
    ...(tmdb ? ['This product uses the TMDB API but is not endorsed or certified by TMDB.'] : []),
    ...(tmdb ? ['Streaming offers are provided by JustWatch.'] : []),
    ...(answers(sources, 'wikidata') || answers(sources, 'spine') ? ['Data of Wikidata is available under CC0.'] : []),
  ];
}
