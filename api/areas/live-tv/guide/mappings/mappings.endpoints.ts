import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { markStale } from '../stale.ts';
import { announceChannels } from './announce.ts';
import {
  GuideChannelsQuery,
  GuideSourceChannel,
  MappingsAnswer,
  MappingsBody,
  MatchAnswer,
  MatchBody,
} from './mappings.schemas.ts';
import { applyMatches, putHandMappings } from './mappings.store.ts';
import { guideChannelsPage } from './mappings.view.ts';
import { matchesFor } from './match-guide.ts';

const manages = { permission: 'library:manage' } as const;

export const listGuideSourceChannels = defineEndpoint({
  operationId: 'listGuideSourceChannels',
  method: 'get',
  path: '/live/guide/sources/:id/channels',
  summary: 'List the channels of a guide source',
  description:
    'Those of the last refresh, with the channels that they are mapped to. Suggestions are of the last refresh too. With `channelId` the most similar names come first.',
  access: manages,
  params: IdParams,
  query: GuideChannelsQuery,
  answer: page(GuideSourceChannel),

  async handle({ params, query }, call) {
    return guideChannelsPage(call, params.id, query);
  },
});

export const setGuideMappings = defineEndpoint({
  operationId: 'setGuideMappings',
  method: 'put',
  path: '/live/guide/mappings',
  summary: 'Map channels to a guide by hand',
  description:
    'Changes the named channels only. An automatic match never undoes it; null takes the guide from a channel. Mappings that name no channel or no channel of a guide are problems, and the others are kept.',
  access: manages,
  body: MappingsBody,
  answer: json(200, MappingsAnswer),
  emits: ['item.updated'],

  async handle({ body }, { db }) {
    const { changed, problems } = await putHandMappings(db, body.mappings);
    await announceChannels(db, changed);
    await markStale(db);
    return { changed: changed.length, problems };
  },
});

export const matchGuideChannels = defineEndpoint({
  operationId: 'matchGuideChannels',
  method: 'post',
  path: '/live/guide/match',
  summary: 'Match channels with guides',
  description:
    'By the id of the guide, then by name or call sign without case, accents, HD and marks of regions, then by number with a similar name. A source with a higher priority wins a tie. Mappings made by hand stay. With `dryRun` nothing is changed.',
  access: manages,
  body: MatchBody,
  answer: json(200, MatchAnswer),
  emits: ['item.updated'],

  async handle({ body }, { db }) {
    const { matches, unmatched } = await matchesFor(db, body);
    const applied = body.dryRun ? [] : await applyMatches(db, matches);
    await announceChannels(db, applied);
    if (applied.length > 0) await markStale(db);
    const shown = matches.map(({ channelId, sourceId, guideId, score, by }) => ({
      ...{ channelId, guideSourceId: sourceId, guideChannelId: guideId, score, by },
    }));
    return { matches: shown, unmatched, applied: applied.length };
  },
});
