import type { Agent, CatalogueId } from './agent.ts';
import { anilist } from './anilist.ts';
import { coverartarchive, musicbrainz } from './musicbrainz.ts';
import { openlibrary } from './openlibrary.ts';
import { tmdb } from './tmdb/index.ts';
import { wikidata } from './wikidata/index.ts';

/** Every agent that needs the network. */
export const agents: readonly Agent[] = [wikidata, musicbrainz, coverartarchive, openlibrary, anilist, tmdb];

export const agentOf = (id: CatalogueId): Agent | undefined => agents.find((agent) => agent.id === id);
