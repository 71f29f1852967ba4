import type { Agent, CatalogueId } from './agent.ts';
import { anilist } from './anilist.ts';
import { comicvine } from './comicvine.ts';
import { fanart } from './fanart.ts';
import { igdb } from './igdb.ts';
import { coverartarchive, musicbrainz } from './musicbrainz.ts';
import { omdb } from './omdb.ts';
import { openlibrary } from './openlibrary.ts';
import { tmdb } from './tmdb/index.ts';
import { tvdb } from './tvdb/index.ts';
import { wikidata } from './wikidata/index.ts';

const byId: Readonly<Record<CatalogueId, Agent>> = {
  ...{ wikidata, musicbrainz, coverartarchive, openlibrary, anilist },
  ...{ tmdb, tvdb, omdb, fanart, comicvine, igdb },
};

/** Every agent that needs the network. */
export const agents: readonly Agent[] = Object.values(byId);

export const agentOf = (id: CatalogueId): Agent => byId[id];
